import type { PostgresGround } from '../postgres-ground.ts'
import { makeClaimsAndTransfers, type Trouble } from './claims-and-transfers.ts'
import { match, type Score, scoreOf } from './match.ts'
import { matchInSql, readMatched, storeForSql } from './match-in-sql.ts'

/** Who matches in B4. Each has the rows where it works: as observations in memory, or in tables that are in cache. */
export const matchers = {
  ours: 'depositd: keys, components and the division of each, in memory',
  sql: 'one join over two tables, into a third',
} as const

export type Matcher = keyof typeof matchers
export const matcherNames = Object.keys(matchers) as Matcher[]

/** B4: deposits matched per second, and how well. */
export type MatchRound = { matcher: Matcher; perSecond: number; score: Score }

export type Matching = { rounds: MatchRound[]; counts: Record<Trouble, number> }

export type MatchSettings = { rounds: number; seed: number; deposits: number; troubledShare: number }

/**
 * Measures both in turns, over the same rows.
 * @throws where one of them errs: the run is void then.
 */
export async function measureMatching(
  ground: PostgresGround,
  { rounds, ...madeUp }: MatchSettings,
  progress: (text: string) => void,
): Promise<Matching> {
  const made = makeClaimsAndTransfers(madeUp)
  const { db } = await ground.database('matching')
  await storeForSql(db, ground.folder, made)
  const results: MatchRound[] = []
  // The first round is not counted: both are warm after it.
  for (let round = 0; round <= rounds; round++) {
    for (const matcher of matcherNames) {
      const startedAt = performance.now()
      const found = matcher === 'ours' ? match(made) : await matchInSql(db)
      const perSecond = madeUp.deposits / ((performance.now() - startedAt) / 1000)
      const score = scoreOf(found ?? (await readMatched(db)), made.truth)
      progress(`B4 round ${round}, ${matcher}: ${Math.round(perSecond)} deposits/s, ${scoreText(score)}\n`)
      if (score.precision !== 1 || score.recall !== 1)
        throw new Error(`${matcher} erred: ${scoreText(score)}`)
      if (round > 0) results.push({ matcher, perSecond, score })
    }
  }
  return { rounds: results, counts: made.counts }
}

export function scoreText({ precision, recall, right, found, wanted }: Score): string {
  return `precision ${percent(precision)} (${right} of ${found}), recall ${percent(recall)} (${right} of ${wanted})`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(4)} %`
}
