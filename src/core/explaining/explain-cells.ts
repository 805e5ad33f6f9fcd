import type { Claim } from '../evidence.ts'
import { type Cell, type DepositLeg, type EvidenceSource, isCredited } from '../judging/matrix.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import type { ChainLeg } from '../matching/fold.ts'
import type { RequiredCell } from '../policy.ts'
import type { VerdictContext, VerdictReason } from './explain.ts'
import type { InboxRowIndex } from './explain-sources.ts'

export const legCells: readonly { leg: DepositLeg; source: EvidenceSource }[] = (
  ['deposit', 'settlement'] as const
).flatMap((leg) => (['webhook', 'api', 'chain'] as const).map((source) => ({ leg, source })))

/** Explains one cell: what the source states of the leg, and why the cell has its value. */
export function explainCell(
  { leg, source }: (typeof legCells)[number],
  judged: VerdictContext,
  sources: InboxRowIndex,
): VerdictReason {
  const { dossier, verdict, policy } = judged
  const cell = verdict.matrix[leg][source]
  const name: RequiredCell = `${leg}.${source}`
  const legs = legsOf(leg, dossier)
  const claim = source === 'chain' ? null : dossier[source]
  return {
    what: name,
    says: `${cell.replace('_', ' ')}: ${source === 'chain' ? saidByChain(legs) : saidByService(leg, claim)}`,
    evidence: source === 'chain' ? legs.flatMap((one) => sources.ofLeg(one)) : sources.ofClaim(claim),
    rule: ruleOf(cell, { leg, source, dossier }),
    policy: policy.required.includes(name) ? `${policy.line}.required: ${name}` : null,
    until: null,
  }
}

function legsOf(leg: DepositLeg, { deposit, settlements }: DepositEvidence): readonly ChainLeg[] {
  if (leg === 'settlement') return settlements
  return deposit === null ? [] : [deposit]
}

function saidByChain(legs: readonly ChainLeg[]): string {
  if (legs.length === 0) return 'no transfer'
  const texts = legs.map(
    ({ amount, asset, to, state, height, blockHash }) =>
      `${amount} of ${asset} to ${to}, ${state} in block ${height} ${blockHash}`,
  )
  return texts.join('; ')
}

function saidByService(leg: DepositLeg, claim: Claim | null): string {
  if (claim === null) return 'nothing was received'
  const head = `${claim.serviceId} is ${claim.status}`
  const told = claim[leg]
  if (told === null) return `${head}, and tells of none`
  const transaction = told.tx === null ? '' : ` by ${told.tx}`
  return `${head}, ${told.amount ?? 'no amount'} of ${told.asset} to ${told.address} on ${told.network}${transaction}`
}

type CellContext = { leg: DepositLeg; source: EvidenceSource; dossier: DepositEvidence }

function ruleOf(cell: Cell, place: CellContext): string {
  const isChain = place.source === 'chain'
  if (cell === 'not_applicable') return 'a credit to a StableWallet is on no chain'
  if (cell === 'absent') return isChain ? 'nothing was read on the chain' : 'it does not speak of this leg'
  if (cell === 'agrees')
    return isChain ? 'a final transfer is the proof that claims are compared with' : agreement(place)
  if (cell === 'present')
    return isChain
      ? 'it is not final, or nobody else speaks of it'
      : 'what would prove or refute it is not there yet'
  const what = disagreement(place).join(', ') || 'what it states'
  return `${what} differs from ${otherSide(place)}`
}

function agreement({ leg, dossier }: CellContext): string {
  if (leg === 'deposit') return 'asset, amount and address are the same as on chain'
  return isCredited(dossier)
    ? "asset and amount are the same as in the API's record"
    : 'asset and amount are what reached the approved recipient'
}

function otherSide({ leg, dossier }: CellContext): string {
  if (leg === 'deposit') return 'the other sources'
  return isCredited(dossier) ? 'the record, or from the wallet paid' : 'what reached the approved recipient'
}

/** The fields of the leg that are stated differently than the chain shows them. */
function disagreement({ leg, source, dossier }: CellContext): string[] {
  const legs = legsOf(leg, dossier).filter(({ state }) => state !== 'orphaned')
  const claims = source === 'chain' ? [dossier.webhook, dossier.api] : [dossier[source]]
  const amount = legs.reduce((sum, one) => sum + one.amount, 0n)
  const names = claims.flatMap((claim) => {
    const told = claim?.[leg]
    if (!told || legs.length === 0) return []
    return [
      ...(legs.some((one) => one.network !== told.network) ? ['network'] : []),
      ...(legs.some((one) => one.to !== told.address) ? ['address'] : []),
      ...(legs.some((one) => one.asset !== told.asset) ? ['asset'] : []),
      ...(told.amount !== null && told.amount !== amount ? ['amount'] : []),
    ]
  })
  return [...new Set(names)]
}
