import { byProgram } from '../core/address-book.ts'
import type { RuleResult, UnnamedTransfer } from '../core/matching/propose.ts'
import { duration, serviceColumn, type TableColumn } from './text.ts'

/** An address of an owner, with the forwarding rule. */
export type OwnerAddressRow = {
  service: string
  id: string
  network: string
  address: string
  forward_network: string | null
  forward_asset: string | null
  forward_recipient: string | null
}

export type EntryHistoryRow = {
  valid_from: Date | null
  valid_until: Date | null
  added_by: string
  approved_by: string | null
  /** Of the entry, and of its end; null if a program added it, or without signatures. */
  decision_id: bigint | null
  end_decision_id: bigint | null
}

export type QuarantinedWebhookRow = {
  id: string
  service: string
  received_at: Date
  source: string
  reason: string
  bytes: number
  user_agent: string
}

/** An unnamed transfer, and the deposit that it fits. */
export type ProposalRow = {
  deposit: string
  service: string
  service_id: string
  role: UnnamedTransfer['role']
  transfer: string
  network: string
  asset_symbol: string
  amount: string
  score: number
  reasons: readonly RuleResult[]
}

/** Ratios are exact decimals. */
export type ScorecardRow = {
  route: string
  deposits: bigint
  settled: bigint
  completeness: string | null
  duplicates_share: string | null
  delivery_p50_seconds: number | null
  delivery_p95_seconds: number | null
  delivery_p99_seconds: number | null
  settle_p50_seconds: number | null
  settle_p95_seconds: number | null
  settle_p99_seconds: number | null
  fee_share: string | null
  delivered_per_paid: string | null
}

export const ownerColumns: TableColumn<OwnerAddressRow>[] = [
  serviceColumn,
  { title: 'ID', value: ({ id }) => id },
  { title: 'NETWORK', value: ({ network }) => network },
  { title: 'ADDRESS', value: ({ address }) => address },
  {
    title: 'FORWARDS TO',
    value: ({ forward_network: network, forward_asset: asset, forward_recipient: recipient }) =>
      network === null ? '' : `${asset} on ${network} to ${recipient}`,
  },
]

export const entryColumns: TableColumn<Partial<EntryHistoryRow>>[] = [
  { title: 'VALID FROM', value: ({ valid_from: from }) => from?.toISOString() ?? '' },
  {
    title: 'UNTIL',
    value: ({ valid_until: until, end_decision_id: decision }) =>
      until ? signedText(until.toISOString(), decision) : '',
  },
  {
    title: 'ADDED BY',
    value: ({ added_by: by = '', decision_id: decision }) =>
      by === '' || by === byProgram.by ? by : signedText(by, decision),
  },
  { title: 'APPROVED BY', value: ({ approved_by: by }) => by ?? '' },
]

/** What the owner of the database decided without signatures says so. */
function signedText(text: string, decision: bigint | null | undefined): string {
  return decision === null ? `${text}, not signed` : text
}

export const quarantineColumns: TableColumn<QuarantinedWebhookRow>[] = [
  { title: 'ID', value: ({ id }) => id, align: 'right' },
  { title: 'RECEIVED', value: ({ received_at }) => received_at.toISOString() },
  serviceColumn,
  { title: 'FROM', value: ({ source }) => source },
  { title: 'REASON', value: ({ reason }) => reason },
  { title: 'BYTES', value: ({ bytes }) => String(bytes), align: 'right' },
  { title: 'SENDER', value: ({ user_agent }) => user_agent },
]

const meaningsOfRetries: Readonly<Record<string, string>> = {
  stored: 'accepted',
  duplicate: 'already stored, counted as duplicates',
  conflicting: 'accepted, although their id has another body',
}

/** How many had which outcome. */
export function retrySentences(retried: readonly { outcome: string }[]): string[] {
  if (retried.length === 0) return ['the quarantine is empty']
  const counts = Map.groupBy(retried, ({ outcome }) => outcome)
  return [...counts].map(
    ([outcome, all]) => `${all.length} ${meaningsOfRetries[outcome] ?? `still refused: ${outcome}`}`,
  )
}

const namedMax = 20

/** Of webhooks that a person dropped, as the audit log says it. */
export function dropText(ids: readonly bigint[], reason: string | null): string {
  const named = ids.slice(0, namedMax).join(', ')
  const more = ids.length > namedMax ? ` and ${ids.length - namedMax} more` : ''
  const what = ids.length === 0 ? 'none' : `webhooks ${named}${more}`
  return reason === null ? what : `${what}: ${reason}`
}

export const proposalColumns: TableColumn<ProposalRow>[] = [
  { title: 'DEPOSIT', value: ({ deposit }) => deposit, align: 'right' },
  serviceColumn,
  { title: 'SERVICE ID', value: ({ service_id }) => service_id },
  { title: 'AS', value: ({ role }) => (role === 'deposit' ? 'payment' : 'delivery') },
  { title: 'TRANSFER', value: ({ transfer }) => transfer },
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', value: ({ asset_symbol: symbol, network }) => `${symbol} on ${network}` },
  { title: 'SCORE', value: ({ score }) => String(score), align: 'right' },
  { title: 'REASONS', value: ({ reasons }) => reasons.map(ruleText).join(', ') },
]

/** A person judges the rules that are not fulfilled, so these show what was compared. */
function ruleText({ rule, fulfilled, compares }: RuleResult): string {
  return fulfilled ? rule : `not ${rule} (${compares})`
}

export const scorecardColumns: TableColumn<ScorecardRow>[] = [
  { title: 'ROUTE', value: ({ route }) => route },
  { title: 'DEPOSITS', value: ({ deposits }) => `${deposits}`, align: 'right' },
  { title: 'SETTLED', value: ({ settled }) => `${settled}`, align: 'right' },
  { title: 'WEBHOOKS RECEIVED', value: ({ completeness }) => percent(completeness), align: 'right' },
  { title: 'DUPLICATES', value: ({ duplicates_share: share }) => percent(share), align: 'right' },
  {
    title: 'WEBHOOK LAG P50/P95/P99',
    value: (line) => spans([line.delivery_p50_seconds, line.delivery_p95_seconds, line.delivery_p99_seconds]),
  },
  {
    title: 'TIME TO SETTLE P50/P95/P99',
    value: (line) => spans([line.settle_p50_seconds, line.settle_p95_seconds, line.settle_p99_seconds]),
  },
  { title: 'FEE', value: ({ fee_share: share }) => percent(share), align: 'right' },
  {
    title: 'RATE',
    value: ({ delivered_per_paid: rate }) => rate?.slice(0, 10) ?? '',
    align: 'right',
  },
]

/** Truncated, so that only a complete ratio shows as 100 %. */
function percent(ratio: string | null): string {
  return ratio === null ? '' : `${Math.trunc(Number(ratio) * 10_000) / 100} %`
}

function spans(seconds: readonly (number | null)[]): string {
  return seconds.every((one) => one === null) ? '' : seconds.map((one) => spanText(one ?? 0)).join(' / ')
}

function spanText(seconds: number): string {
  return seconds < 10 ? `${seconds.toFixed(2)} s` : duration(seconds)
}
