import { type Kysely, sql } from 'kysely'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { PostgresGround } from '../postgres-ground.ts'
import { makeJournals, storeDeposit } from './made-journals.ts'
import { type Arm, armNames, makeOtherTables, post } from './post-arms.ts'

/** B5: transfers per second of one arm. */
export type PostRound = { arm: Arm; perSecond: number }

export type PostSettings = { rounds: number; batched: number; singles: number }

/**
 * Measures all arms in turns, each on an empty ledger.
 * @throws where what an arm left does not add up: the run is void then.
 */
export async function measurePosting(
  ground: PostgresGround,
  { rounds, batched, singles }: PostSettings,
  progress: (text: string) => void,
): Promise<PostRound[]> {
  const { db: owner } = await ground.database('posting')
  await storeDeposit(owner)
  await makeOtherTables(owner)
  await owner.destroy()
  const results: PostRound[] = []
  // The first round is not counted: all are warm after it.
  for (let round = 0; round <= rounds; round++) {
    for (const arm of armNames) {
      const journals = makeJournals(0, arm === 'ours' || arm === 'unchecked' ? batched : singles)
      const perSecond = await ground.inCopy('posting', async (url) => {
        await using db = openDatabase<Tables>({
          url,
          poolMax: 32,
          applicationName: 'bench',
          role: 'depositd_daemon',
        })
        const startedAt = performance.now()
        await post[arm](db, journals)
        const seconds = (performance.now() - startedAt) / 1000
        await holdPosted(db, arm, journals.length)
        return journals.length / seconds
      })
      progress(`B5 round ${round}, ${arm}: ${Math.round(perSecond)} transfers/s\n`)
      if (round > 0) results.push({ arm, perSecond })
    }
  }
  return results
}

const written: Record<Arm, string> = {
  ours: 'ledger_transfer',
  single: 'ledger_transfer',
  unchecked: 'unchecked.ledger_transfer',
  running: 'running.transfer',
}

async function holdPosted(db: Kysely<Tables>, arm: Arm, wanted: number): Promise<void> {
  const { rows } = await sql<{ count: number; sum: string; entries: string | null }>`
    select count(*)::int as count, sum(amount)::text as sum,
      (select max(balance)::text from running.account) as entries from ${sql.table(written[arm])}`.execute(db)
  const { count, sum, entries } = rows[0] ?? { count: 0, sum: '', entries: null }
  const isWhole = count === wanted && (arm !== 'running' || sum === entries)
  if (!isWhole) throw new Error(`${arm} left ${count} transfers of ${sum} instead of ${wanted}`)
}
