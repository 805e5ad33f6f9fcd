import type { AssetKey } from './asset.ts'
import { type AccountId, accounts } from './chart.ts'
import { isOutsideValidity } from './judging/legs.ts'
import { evidenceSources } from './judging/matrix.ts'
import { type DepositVerdict, openCells } from './judging/reconcile.ts'
import { isWrittenOff } from './matching/decisions.ts'
import type { DepositEvidence } from './matching/divide.ts'
import { mismatchKinds } from './mismatch.ts'
import type { Amount } from './money.ts'
import type { Policy } from './policy.ts'
import type { Journal } from './posting.ts'

/** What is recorded of a deposit once its owner may be credited. */
export type CreditSafety = {
  /** The posting key of the journal that proves it: the amount as booked for the owner. */
  journal: string
  account: AccountId
  asset: AssetKey
  amount: Amount
  height: bigint
  blockHash: string
  finalAt: Date
  reason: string
}

/** Why an owner must not be credited yet, in the order in which it is checked. */
export type CreditObstacle =
  | 'not_final'
  | 'address'
  | 'amounts'
  | 'sources'
  | 'stopped'
  | 'mismatch'
  | 'not_booked'

export type CreditVerdict =
  | ({ kind: 'safe' } & CreditSafety)
  | { kind: 'unsafe'; obstacles: readonly CreditObstacle[] }

type CreditInput = {
  evidence: DepositEvidence
  verdict: DepositVerdict
  policy: Policy
  /** All that are not reversed, including those that this decision books. */
  standing: readonly Journal[]
}

/**
 * Rests on the evidence of the deposit alone. A severe mismatch that a person resolved still stands in the way: the
 * person accepted the loss, and the evidence did not change.
 */
export function judgeCredit(input: CreditInput): CreditVerdict {
  const { evidence, verdict, standing } = input
  const obstacles = obstaclesOf(input)
  const journal = standing.find(({ kind }) => kind === 'deposit')
  const [line] = journal?.transfers ?? []
  const { deposit } = evidence
  const isBooked = line !== undefined && line.credit !== accounts.suspense
  if (!isBooked || journal === undefined) return { kind: 'unsafe', obstacles: [...obstacles, 'not_booked'] }
  if (obstacles.length > 0 || deposit === null || verdict.finalAt === null)
    return { kind: 'unsafe', obstacles }
  const { height, blockHash, network } = deposit
  const { credit: account, asset, amount } = line
  const agreeing = evidenceSources.filter((source) => verdict.matrix.deposit[source] === 'agrees')
  const reason = `final on ${network} at height ${height}; these agree: ${agreeing.join(', ')}`
  const proof = { journal: journal.key, account, asset, amount }
  return { kind: 'safe', ...proof, height, blockHash, finalAt: verdict.finalAt, reason }
}

function obstaclesOf({ evidence, verdict, policy }: CreditInput): CreditObstacle[] {
  const { matrix, mismatches, finalAt } = verdict
  const { webhook, api } = matrix.deposit
  const obstacles: Record<Exclude<CreditObstacle, 'not_booked'>, boolean> = {
    not_final: finalAt === null,
    address: !isOurs(evidence),
    amounts: webhook === 'differs' || api === 'differs',
    sources: webhook !== 'agrees' && api !== 'agrees',
    stopped: isStopped(evidence, verdict),
    mismatch: mismatches.some(({ kind }) => mismatchKinds[kind].severity === 'severe'),
  }
  const isOpen = openCells(matrix, { required: policy.creditRequires }).length > 0
  const found = { ...obstacles, sources: obstacles.sources || isOpen }
  return (Object.keys(found) as (keyof typeof found)[]).filter((name) => found[name])
}

function isOurs(evidence: DepositEvidence): boolean {
  const { approval, addressConflict, foreign } = evidence
  return approval !== null && addressConflict === null && foreign === null && !isOutsideValidity(evidence)
}

const movingStates: ReadonlySet<DepositVerdict['state']> = new Set([
  'confirmed',
  'settling',
  'settled',
  'reconciled',
])

/** The payment went back, is held, or was given up: also if only a webhook says so. */
function isStopped(evidence: DepositEvidence, { state, settledAt }: DepositVerdict): boolean {
  const { webhook, api } = evidence
  const statuses = [webhook, api].map((claim) => claim?.status)
  const isReturned = statuses.some(
    (status) => status === 'held' || status === 'refunded' || status === 'failed',
  )
  return isReturned || !movingStates.has(state) || isWrittenOff(evidence, settledAt)
}
