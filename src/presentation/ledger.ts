import type { TableColumn } from './text.ts'

/** Amounts are decimals in units of the asset, debit balances positive. */
export type TrialBalanceRow = {
  account: string
  code: string | null
  asset: string
  asset_symbol: string
  debit: string
  credit: string
  balance: string
}

export const trialBalanceColumns: readonly TableColumn<TrialBalanceRow>[] = [
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'CODE', value: ({ code }) => code ?? '' },
  { title: 'DEBIT', value: ({ debit }) => debit, align: 'right' },
  { title: 'CREDIT', value: ({ credit }) => credit, align: 'right' },
  { title: 'BALANCE', value: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', value: ({ asset_symbol: symbol }) => symbol },
  { title: 'ASSET', value: ({ asset }) => asset },
]

/** The opening, a change, or the closing of an account. */
export type StatementRow = {
  line: string
  event_at: Date
  kind: string | null
  journal_id: bigint | null
  deposit_id: bigint | null
  amount: string | null
  balance: string
  asset_symbol: string
  asset: string
  account: string
}

export const statementColumns: readonly TableColumn<StatementRow>[] = [
  { title: 'AT', value: ({ event_at: at }) => at.toISOString() },
  { title: 'WHAT', value: ({ line, kind }) => kind ?? line },
  { title: 'JOURNAL', value: ({ journal_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'DEPOSIT', value: ({ deposit_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'AMOUNT', value: ({ amount }) => amount ?? '', align: 'right' },
  { title: 'BALANCE', value: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', value: ({ asset_symbol: symbol }) => symbol },
  { title: 'ASSET', value: ({ asset }) => asset },
  { title: 'ACCOUNT', value: ({ account }) => account },
]

export type PeriodRow = {
  period: string
  state: string
  journals: bigint
  late_journals: bigint
  reopened: bigint
  closed_by: string | null
  approved_by: string | null
  sha256: string | null
  forced: boolean | null
}

export const periodColumns: readonly TableColumn<PeriodRow>[] = [
  { title: 'MONTH', value: ({ period }) => period },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'JOURNALS', value: ({ journals }) => `${journals}`, align: 'right' },
  { title: 'LATE', value: ({ late_journals }) => `${late_journals}`, align: 'right' },
  { title: 'REOPENED', value: ({ reopened }) => `${reopened}`, align: 'right' },
  { title: 'CLOSED BY', value: ({ closed_by, approved_by }) => namesOf(closed_by, approved_by) },
  { title: 'SHA-256', value: ({ sha256, forced }) => `${sha256 ?? ''}${forced === true ? ' forced' : ''}` },
]

export function namesOf(...names: readonly (string | null)[]): string {
  return names.filter((name) => name !== null).join(', ')
}

export type CheckpointRow = { size: number; root: string; madeAt: Date; signedBy: string }

export const checkpointColumns: readonly TableColumn<CheckpointRow>[] = [
  { title: 'ROWS', value: ({ size }) => `${size}`, align: 'right' },
  { title: 'MADE', value: ({ madeAt }) => madeAt.toISOString() },
  { title: 'ROOT', value: ({ root }) => root },
  { title: 'SIGNED BY', value: ({ signedBy }) => signedBy },
]

/** Of an export, as the audit log says it. */
type ExportChoice = {
  format: string
  isValued?: boolean | undefined
  period?: string | undefined
  from?: string | undefined
  to?: string | undefined
  account?: string | undefined
  owner?: string | undefined
}

export function exportText({ format, isValued, period, from, to, account, owner }: ExportChoice): string {
  const parts = [
    isValued ? `${format} with values` : format,
    period,
    from && `from ${from}`,
    to && `to ${to}`,
    account,
    owner,
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}
