/** An asset as an export writes it. */
export type ExportedAsset = {
  /** `network/contract`, `network/mint` or `network/native`. */
  key: string
  symbol: string
  decimals: number
  /** Its unique name in plain-text accounting. */
  commodity: string
}

export type ExportedTransfer = {
  leg: number
  debit: string
  credit: string
  asset: ExportedAsset
  /** In smallest units. */
  amount: bigint
}

/** A journal with the requested transfers. Times are ISO 8601 in UTC with all six digits of PostgreSQL. */
export type ExportedJournal = {
  id: bigint
  postingKey: string
  kind: string
  depositId: bigint | null
  reverses: bigint | null
  /** Why a person booked it; null if no reason was given. */
  reason: string | null
  /** The month whose books contain it: `2026-01`. */
  period: string
  eventAt: string
  recordedAt: string
  transfers: readonly ExportedTransfer[]
}

/** The contents of an export, each list ordered by name; for each asset also the sum of all amounts. */
export type ExportContents = {
  accounts: readonly string[]
  assets: readonly { asset: ExportedAsset; amount: bigint }[]
}

/** How one kind of file is written: its head, the text of each journal, and a tail that is known only at the end. */
export type ExportFormat = {
  file: string
  head: string
  journal: (journal: ExportedJournal) => string
  tail: (used: ExportContents) => string
}

/** The day of the event, in UTC. */
export function dayOf({ eventAt }: ExportedJournal): string {
  return eventAt.slice(0, 10)
}

/** The month of the event. The journal is in the books of a later month if that one was closed. */
export function monthOf({ eventAt }: ExportedJournal): string {
  return eventAt.slice(0, 7)
}

/** One line of text: no character in it ends the line or controls a terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
}
