import type { PostgresGround } from '../postgres-ground.ts'
import { type Arm, armNames, balances, fillBooks } from './balance-arms.ts'

/** B8: seconds for all balances as of two times. */
export type BalanceRound = { arm: Arm; seconds: number; lines: number }

/**
 * Measures both in turns over the same books, each time as of other times; both answers must be the same.
 * @throws where they are not: the run is void then.
 */
export async function measureBalances(
  ground: PostgresGround,
  { rounds, transfers }: { rounds: number; transfers: number },
  progress: (text: string) => void,
): Promise<BalanceRound[]> {
  const { db } = await ground.database('balances')
  await fillBooks(db, { transfers, deposits: 1 }, progress)
  const results: BalanceRound[] = []
  // The first round is not counted: what is read is in memory after it.
  for (let round = 0; round <= rounds; round++) {
    const [asOf, recordedAsOf] = [daysAgo(1.4 + round), daysAgo(0.6 + round / 2)]
    const answers: string[] = []
    for (const arm of armNames) {
      const startedAt = performance.now()
      const lines = await balances[arm](db, asOf, recordedAsOf)
      const seconds = (performance.now() - startedAt) / 1000
      progress(`B8 round ${round}, ${arm}: ${(1000 * seconds).toFixed(1)} ms, ${lines.length} balances\n`)
      answers.push(JSON.stringify(lines))
      if (round > 0) results.push({ arm, seconds, lines: lines.length })
    }
    if (answers[0] !== answers[1] || answers[0] === '[]') throw new Error('the balances are not the same')
  }
  return results
}

function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 24 * 3600 * 1000)
}
