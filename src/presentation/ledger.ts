import type { TableColumn } from './words.ts'

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
  { title: 'ACCOUNT', of: ({ account }) => account },
  { title: 'CODE', of: ({ code }) => code ?? '' },
  { title: 'DEBIT', of: ({ debit }) => debit, align: 'right' },
  { title: 'CREDIT', of: ({ credit }) => credit, align: 'right' },
  { title: 'BALANCE', of: ({ balance }) => balance, align: 'right' },
  { title: 'SYMBOL', of: ({ asset_symbol: symbol }) => symbol },
  { title: 'ASSET', of: ({ asset }) => asset },
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
  { title: 'MONTH', of: ({ period }) => period },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'JOURNALS', of: ({ journals }) => `${journals}`, align: 'right' },
  { title: 'LATE', of: ({ late_journals }) => `${late_journals}`, align: 'right' },
  { title: 'REOPENED', of: ({ reopened }) => `${reopened}`, align: 'right' },
  { title: 'CLOSED BY', of: ({ closed_by, approved_by }) => namesOf(closed_by, approved_by) },
  { title: 'SHA-256', of: ({ sha256, forced }) => `${sha256 ?? ''}${forced === true ? ' forced' : ''}` },
]

/** The person who did it, and the second person if one was required. */
export function namesOf(...names: readonly (string | null)[]): string {
  return names.filter((name) => name !== null).join(', ')
}

export type SealRow = { number: string; journals: string; last: string; sealedAt: string; hash: string }

export const sealColumns: readonly TableColumn<SealRow>[] = [
  { title: 'SEAL', of: ({ number }) => number, align: 'right' },
  { title: 'JOURNALS', of: ({ journals }) => journals, align: 'right' },
  { title: 'UP TO', of: ({ last }) => last, align: 'right' },
  { title: 'SEALED', of: ({ sealedAt }) => sealedAt },
  { title: 'HASH', of: ({ hash }) => hash },
]
