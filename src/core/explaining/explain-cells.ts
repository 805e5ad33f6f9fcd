import type { Claim } from '../evidence.ts'
import { type DepositLeg, isCredited } from '../judging/legs.ts'
import { type Cell, cellPath, type EvidenceSource } from '../judging/matrix.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { type ChainLeg, total } from '../matching/fold.ts'
import type { RequiredCell } from '../policy.ts'
import type { InboxRowIndex, VerdictContext, VerdictReason } from './verdict-reason.ts'

export function explainCell(
  name: RequiredCell,
  { evidence, verdict, policy }: VerdictContext,
  sources: InboxRowIndex,
): VerdictReason {
  const [leg, source] = cellPath(name)
  const cell = verdict.matrix[leg][source]
  const legs = legsOf(leg, evidence)
  const claim = source === 'chain' ? null : evidence[source]
  return {
    what: name,
    says: `${cell.replace('_', ' ')}: ${source === 'chain' ? chainText(legs) : claimText(leg, claim)}`,
    evidence: source === 'chain' ? legs.flatMap((one) => sources.ofLeg(one)) : sources.ofClaim(claim),
    rule: ruleOf(cell, { leg, source, evidence }),
    policy: policy.required.includes(name) ? `${policy.line}.required: ${name}` : null,
    until: null,
  }
}

function legsOf(leg: DepositLeg, { deposit, settlements }: DepositEvidence): readonly ChainLeg[] {
  if (leg === 'settlement') return settlements
  return deposit === null ? [] : [deposit]
}

function chainText(legs: readonly ChainLeg[]): string {
  if (legs.length === 0) return 'no transfer'
  const texts = legs.map(
    ({ amount, asset, to, state, height, blockHash }) =>
      `${amount} of ${asset} to ${to}, ${state} in block ${height} ${blockHash}`,
  )
  return texts.join('; ')
}

function claimText(leg: DepositLeg, claim: Claim | null): string {
  if (claim === null) return 'nothing was received'
  const head = `${claim.serviceId} is ${claim.status}`
  const reported = claim[leg]
  if (reported === null) return `${head}, and states no delivery`
  const transaction = reported.tx === null ? '' : ` by ${reported.tx}`
  return `${head}, ${reported.amount ?? 'no amount'} of ${reported.asset} to ${reported.address} on ${reported.network}${transaction}`
}

type CellContext = { leg: DepositLeg; source: EvidenceSource; evidence: DepositEvidence }

function ruleOf(cell: Cell, place: CellContext): string {
  const isChain = place.source === 'chain'
  if (cell === 'not_applicable') return 'a credit to a StableWallet is on no chain'
  if (cell === 'absent')
    return isChain ? 'no transfer was read on the chain' : 'the source does not state this leg'
  if (cell === 'agrees')
    return isChain ? 'a final transfer is the proof that claims are compared with' : agreement(place)
  if (cell === 'present')
    return isChain
      ? 'it is not final, or no other source states it'
      : 'the evidence that would prove or refute it is still missing'
  const what = disagreement(place).join(', ') || 'the claim'
  return `${what} differs from ${otherSide(place)}`
}

function agreement({ leg, evidence }: CellContext): string {
  if (leg === 'deposit') return 'asset, amount and address are the same as on chain'
  return isCredited(evidence)
    ? "asset and amount are the same as in the API's record"
    : 'asset and amount are the same as delivered to the approved recipient'
}

function otherSide({ leg, evidence }: CellContext): string {
  if (leg === 'deposit') return 'the other sources'
  return isCredited(evidence) ? 'the record or the wallet paid' : 'the delivery to the approved recipient'
}

function disagreement({ leg, source, evidence }: CellContext): string[] {
  const legs = legsOf(leg, evidence).filter(({ state }) => state !== 'orphaned')
  const claims = source === 'chain' ? [evidence.webhook, evidence.api] : [evidence[source]]
  const amount = total(legs)
  const names = claims.flatMap((claim) => {
    const reported = claim?.[leg]
    if (!reported || legs.length === 0) return []
    return [
      ...(legs.some((one) => one.network !== reported.network) ? ['network'] : []),
      ...(legs.some((one) => one.to !== reported.address) ? ['address'] : []),
      ...(legs.some((one) => one.asset !== reported.asset) ? ['asset'] : []),
      ...(reported.amount !== null && reported.amount !== amount ? ['amount'] : []),
    ]
  })
  return [...new Set(names)]
}
