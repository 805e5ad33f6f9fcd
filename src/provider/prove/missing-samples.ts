import { assetCode } from '../../core/asset.ts'
import type { Section } from '../infer/find-records.ts'
import type { Samples } from '../infer/infer-profile.ts'
import type { LegSide } from '../infer/rules.ts'
import type { ProofFacts } from './facts.ts'
import { depositsMin } from './proof.ts'
import type { SampleTable } from './sample-table.ts'

export type SamplesSeen = Samples & { table: SampleTable; facts: ProofFacts }

/** One line each. */
export function missingSamples(samples: SamplesSeen, profile: Section): string[] {
  const { table, facts } = samples
  const { deposit, settlement } = table.legs
  const isForwarding = settlement.columns.length > 0 || facts.hints.recipients.size > 0
  const isToEach = deposit.deposits > 0 && addressesOf(table) >= deposit.deposits
  return [
    ...missingKinds(samples),
    ...tooFew(deposit.deposits, 'deposits whose payments a chain shows'),
    ...(isForwarding ? tooFew(settlement.deposits, 'deposits whose deliveries a chain shows') : []),
    ...(isToEach ? ['a second payment to the same address'] : []),
    ...variety('deposit', table, facts),
    ...(isForwarding ? variety('settlement', table, facts) : []),
    ...(settlement.deposits > 0 ? unlikeLegs(table) : []),
    ...unseenStatuses(profile),
  ]
}

function missingKinds({ payloads, answers, table, facts }: SamplesSeen): string[] {
  const isOfDeposits = payloads.length > 0 && payloads.length === webhooksOfDeposits(table)
  return [
    ...facts.silent.map(({ network, problem }) => `transactions on ${network}: ${problem}`),
    ...(payloads.length === 0 ? ['webhooks'] : []),
    ...(isOfDeposits ? ['a webhook that is not about a deposit, such as a test'] : []),
    ...(answers.length === 0 ? ['records of the API'] : []),
  ]
}

function webhooksOfDeposits({ rows }: SampleTable): number {
  return rows.filter(({ payload }) => payload !== null).length
}

function tooFew(count: number, what: string): string[] {
  return count < depositsMin ? [`${depositsMin - count} more ${what}`] : []
}

function addressesOf({ legs }: SampleTable): number {
  return new Set(legs.deposit.transfers.flatMap((one) => (one === null ? [] : [one.to]))).size
}

function variety(side: LegSide, table: SampleTable, { hints }: ProofFacts): string[] {
  const transfers = table.legs[side].transfers.filter((one) => one !== null)
  if (transfers.length === 0) return []
  const isOne = (of: (transfer: (typeof transfers)[number]) => string) =>
    new Set(transfers.map(of)).size === 1
  const what = side === 'deposit' ? 'a payment' : 'a delivery'
  return [
    ...(isOne(({ to }) => to) ? [`${what} to a second address`] : []),
    ...(isOne(({ network }) => network) && hints.networks.length > 1 ? [`${what} on a second network`] : []),
    ...(isOne(({ asset }) => assetCode(asset)) ? [`${what} of a second asset`] : []),
  ]
}

/** What tells the fields of the payment from those of the delivery. */
function unlikeLegs({ legs }: SampleTable): string[] {
  const pairs = legs.deposit.transfers.flatMap((paid, place) => {
    const delivered = legs.settlement.transfers[place]
    return paid && delivered ? [{ paid, delivered }] : []
  })
  const isUnlike = pairs.some(({ paid, delivered }) => paid.network !== delivered.network)
  const isConverted = pairs.some(
    ({ paid, delivered }) => assetCode(paid.asset) !== assetCode(delivered.asset),
  )
  return [
    ...(isUnlike ? [] : ['a delivery on another network than its payment']),
    ...(isConverted ? [] : ['a delivery in another asset than its payment']),
  ]
}

function unseenStatuses({ record }: Section): string[] {
  const { status } = record as { status?: { words?: Record<string, string> } }
  const seen = new Set(Object.values(status?.words ?? {}))
  return (['failed', 'held', 'refunded'] as const).flatMap((meaning) => {
    const what = meaning === 'failed' ? 'a deposit that failed' : `a deposit that was ${meaning}`
    return seen.has(meaning) ? [] : [what]
  })
}
