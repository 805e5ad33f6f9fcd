/** An asset as an export writes it. */
export type ExportedAsset = {
  /** `network/contract`, `network/mint` or `network/native`. */
  key: string
  symbol: string
  decimals: number
  /** Its name in plain-text accounting, which no other asset has. */
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

/** A journal with the transfers that were asked for. Times are ISO 8601 in UTC with all six digits of PostgreSQL. */
export type ExportedJournal = {
  id: bigint
  postingKey: string
  kind: string
  depositId: bigint | null
  reverses: bigint | null
  /** Why people booked it, where they did. */
  reason: string | null
  /** The month in whose books it stands: `2026-01`. */
  period: string
  eventAt: string
  recordedAt: string
  transfers: readonly ExportedTransfer[]
}

/** What an export turned out to hold, each in order of its name; of an asset also the sum of all amounts. */
export type ExportContents = {
  accounts: readonly string[]
  assets: readonly { asset: ExportedAsset; amount: bigint }[]
}

/** How one kind of file is written: its head, a piece for each journal, and what is known only at the end. */
export type ExportFormat = {
  file: string
  head: string
  journal: (journal: ExportedJournal) => string
  tail: (used: ExportContents) => string
}

/** The day, in UTC, on which it happened. */
export function dayOf({ eventAt }: ExportedJournal): string {
  return eventAt.slice(0, 10)
}

/** The month to which it belongs by when it happened; it stands in the books of a later one where that was closed. */
export function monthOf({ eventAt }: ExportedJournal): string {
  return eventAt.slice(0, 7)
}

/** One line of text: nothing in it ends the line or steers a terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
}
