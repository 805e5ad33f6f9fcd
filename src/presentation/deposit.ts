import type { Cell, Matrix } from '../core/judging/matrix.ts'
import { type AssetLabels, mismatchSentence } from './mismatch-sentence.ts'
import type { CreditStanding } from './reasons.ts'
import { type Fact, type ServicesShown, serviceColumn, type TableColumn } from './text.ts'

/** Amounts are decimal text. */
export type DepositListRow = {
  id: string
  service: string
  state: string
  owner: string
  network: string
  asset_symbol: string
  amount: string
  /** Empty if nothing was delivered. */
  settlement: string
  /** Separated by commas. */
  mismatches: string
}

export type DepositDetail = {
  deposit: Readonly<Record<string, string | Date | bigint | null>>
  matrix: Matrix
  mismatches: readonly DepositMismatch[]
  evidence: readonly EvidenceLine[]
  journals: readonly JournalSummary[]
  credit: CreditStanding
  /** By key. */
  assets: AssetLabels
}

type DepositMismatch = {
  id: string
  kind: string
  severity: string
  opened_at: Date
  cleared_at: Date | null
  status: string
  detail: Readonly<Record<string, string>>
  loss: string | null
  loss_asset: string | null
  loss_asset_symbol: string | null
  assets: AssetLabels
}
type EvidenceLine = { inbox_id: string; source: string; what: string; received_at: Date }
type JournalSummary = { posting_key: string; event_at: Date; transfers: readonly TransferLine[] }
export type TransferLine = {
  debit: string
  credit: string
  amount: string
  asset_symbol: string
  network: string
}

export const depositColumns: readonly TableColumn<DepositListRow>[] = [
  { title: 'ID', value: ({ id }) => id, align: 'right' },
  { title: 'STATE', value: ({ state }) => state },
  serviceColumn,
  { title: 'OWNER', value: ({ owner }) => owner },
  { title: 'NETWORK', value: ({ network }) => network },
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', value: ({ asset_symbol: symbol }) => symbol },
  { title: 'DELIVERED', value: ({ settlement }) => settlement },
  { title: 'MISMATCHES', value: ({ mismatches }) => mismatches },
]

export function depositFacts(
  { deposit }: Pick<DepositDetail, 'deposit'>,
  { hasSeveralServices }: ServicesShown,
): Fact[] {
  const said = (name: string) => fieldText(deposit, name)
  const fee = said('fee') === '-' ? '-' : `${said('fee')} ${said('fee_asset_symbol')}`
  return [
    { name: 'for', lines: [`${said('owner_kind')} ${said('owner_id')}`] },
    {
      name: 'paid',
      lines: [
        `${said('amount')} ${said('asset_symbol')} on ${said('network')} to ${said('address')}`,
        said('tx'),
      ],
    },
    {
      name: 'delivered',
      lines: [
        `${said('settlement_amount')} ${said('settlement_asset_symbol')} on ${said('settlement_network')} to ${said('settlement_address')}, fee ${fee}`,
        said('settlement_tx'),
      ],
    },
    { name: 'service', lines: [...(hasSeveralServices ? [said('service')] : []), said('service_id')] },
  ]
}

/** `-` if it is unknown. */
export function fieldText(deposit: DepositDetail['deposit'], name: string): string {
  const value = deposit[name]
  return value instanceof Date ? value.toISOString() : String(value ?? '-')
}

type MatrixRow = { leg: string } & Matrix['deposit']

export function matrixRows({ deposit, settlement }: Matrix): MatrixRow[] {
  return [
    { leg: 'deposit', ...deposit },
    { leg: 'settlement', ...settlement },
  ]
}

export const matrixColumns: readonly TableColumn<MatrixRow>[] = [
  { title: '', value: ({ leg }) => leg },
  { title: 'WEBHOOK', value: ({ webhook }) => claimCellText(webhook) },
  { title: 'API', value: ({ api }) => claimCellText(api) },
  { title: 'CHAIN', value: ({ chain }) => chainCellText(chain) },
]

export function mismatchText(mismatch: DepositMismatch): string {
  const { kind, severity, opened_at, cleared_at, status } = mismatch
  const until = cleared_at === null ? status : `cleared ${cleared_at.toISOString()}`
  return `${kind} (${severity}) since ${opened_at.toISOString()}, ${until}: ${mismatchSentence(mismatch)}\n`
}

export const evidenceColumns: readonly TableColumn<EvidenceLine>[] = [
  { title: 'RECEIVED', value: ({ received_at }) => received_at.toISOString() },
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'SAYS', value: ({ what }) => what },
  { title: 'INBOX', value: ({ inbox_id }) => inbox_id, align: 'right' },
]

export function journalTitle({ posting_key, event_at }: JournalSummary): string {
  return `${posting_key} at ${event_at.toISOString()}`
}

export const transferColumns: readonly TableColumn<TransferLine>[] = [
  { title: 'DEBIT', value: ({ debit }) => debit },
  { title: 'CREDIT', value: ({ credit }) => credit },
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', value: ({ asset_symbol: symbol, network }) => `${symbol} on ${network}` },
]

export function claimCellText(cell: Cell): string {
  return cell.replaceAll('_', ' ')
}

/** A final transfer is the proof. The chain differs only if the transfer went to another address than approved. */
export function chainCellText(cell: Cell): string {
  if (cell === 'differs') return 'went elsewhere'
  return cell === 'agrees' ? 'proves' : cell.replaceAll('_', ' ')
}
