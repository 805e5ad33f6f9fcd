import type { OnDemandReader } from '../../chain/port.ts'
import { type BalanceSpan, isNarrow, spansBetween, unexplained } from '../../core/balance-proof.ts'
import type { DifferenceSearchResult, StoredDifference } from '../../store/chain/balance-differences.ts'
import { knownChanges } from '../../store/chain/balance-points.ts'
import { type ProofRun, unlessRemote } from './proof-run.ts'

type ReadHistory = NonNullable<OnDemandReader['readBalanceHistory']>

/**
 * Searches differences where balances of the past cannot be read: by what transactions tell of the balances before and
 * after them. Where two that follow one another do not fit together, what is not explained is between them; where the
 * balance changed within one otherwise than is known, it is in that slot.
 */
export async function walkHistories(
  run: ProofRun,
  due: readonly StoredDifference[],
  read: ReadHistory,
): Promise<DifferenceSearchResult[]> {
  const searched: DifferenceSearchResult[] = []
  for (const difference of due)
    searched.push({ difference, ...(await walk(run, difference, read)), at: run.now() })
  return searched
}

type HistoryWalkResult = Pick<DifferenceSearchResult, 'found' | 'problem'>

async function walk(
  { db }: ProofRun,
  difference: StoredDifference,
  read: ReadHistory,
): Promise<HistoryWalkResult> {
  const { holding, start, end } = difference
  const whole: BalanceSpan = { start, end }
  if (isNarrow(whole)) return { found: whole, problem: null }
  const history = await unlessRemote(read({ ...holding, from: start.height + 1n, to: end.height }))
  if (typeof history === 'string') return { found: whole, problem: history }
  const spans = spansBetween(whole, history.balances)
  const known = await knownChanges(
    db,
    spans.map((span) => ({ holding, above: span.start.height, upTo: span.end.height })),
  )
  // Where all is explained by now there is nothing to be narrowed.
  const found = spans.find((span, place) => unexplained(span, known[place] ?? 0n) !== 0n) ?? whole
  if (isNarrow(found)) return { found, problem: null }
  const isRest = history.reached < found.end.height
  return { found, problem: isRest ? 'more transactions than are read at once' : unshown }
}

const unshown = 'no transaction that the node lists shows the one slot'
