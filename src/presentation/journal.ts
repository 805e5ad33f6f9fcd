import type { LedgerTransfer } from '../core/booking-targets.ts'
import { formatAmount } from '../core/money.ts'
import type { TableColumn } from './text.ts'

type AssetsByKey = ReadonlyMap<string, { symbol: string; network: string; decimals: number }>

/** The month of the books, and that of the event if it differs: the journal is then late. */
export function placeOf({ period, eventAt }: { period: string; eventAt: Date }): string {
  const [books, happened] = [period.slice(0, 7), eventAt.toISOString().slice(0, 7)]
  const late = books === happened ? '' : `, late: the event was in ${happened}`
  return `in the books of ${books}${late}`
}

export function transferDocument({ debit, credit, asset, amount }: LedgerTransfer, assets: AssetsByKey) {
  const { symbol, network, decimals } = assets.get(asset) ?? { symbol: '', network: '', decimals: 0 }
  return {
    debit,
    credit,
    asset_symbol: symbol,
    asset,
    network,
    amount: formatAmount(amount, decimals),
    amount_base: amount,
  }
}

export const journalKinds = [
  'deposit',
  'settlement',
  'conversion',
  'shortage',
  'refund',
  'write_off',
  'withdrawal',
  'manual',
  'opening',
  'reversal',
] as const

/** A journal in a list. Months are like `2026-01`. */
export type JournalListRow = {
  id: bigint
  kind: string
  deposit_id: bigint | null
  reverses: bigint | null
  reversed_by: bigint | null
  event_at: Date
  period: string
  belongs_to: string
  made_by: string | null
  approved_by: string | null
  decision_id: bigint | null
  reason: string | null
  changed_at: Date | null
}

export const journalColumns: readonly TableColumn<JournalListRow>[] = [
  { title: 'JOURNAL', value: ({ id }) => id.toString(), align: 'right' },
  { title: 'WHAT', value: ({ kind }) => kind },
  { title: 'HAPPENED', value: ({ event_at: at }) => at.toISOString() },
  {
    title: 'BOOKS OF',
    value: ({ period, belongs_to: month }) => `${period}${period === month ? '' : ' late'}`,
  },
  {
    title: 'DEPOSIT',
    value: ({ deposit_id: id, changed_at: at }) => `${id ?? ''}${at === null ? '' : ' changed'}`,
    align: 'right',
  },
  { title: 'REVERSES', value: ({ reverses }) => reverses?.toString() ?? '', align: 'right' },
  { title: 'REVERSED BY', value: ({ reversed_by: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'BY', value: ({ made_by: by, approved_by: second }) => (by === null ? '' : `${by}, ${second}`) },
  {
    title: 'DECISION',
    value: ({ made_by: by, decision_id: id }) => (by === null ? '' : `${id ?? 'not signed'}`),
  },
  { title: 'WHY', value: ({ reason }) => reason ?? '' },
]
