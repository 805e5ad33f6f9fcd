import { formatAmount } from '../../core/money.ts'
import type { CostBasis } from '../lots.ts'

export type ExportedAsset = {
  /** `network/contract`, `network/mint` or `network/native`. */
  key: string
  symbol: string
  decimals: number
  /** Unique in plain-text accounting. */
  commodity: string
}

export type ExportedTransfer = {
  leg: number
  debit: string
  credit: string
  asset: ExportedAsset
  /** In base units. */
  amount: bigint
}

/** Debits positive. Gains and rounding have no asset; a revaluation has no units. */
export type ExportedValue = {
  account: string
  asset: ExportedAsset | null
  /** In base units. */
  units: bigint
  /** In the smallest coins of the functional currency. */
  value: bigint
  /** Of one unit at the time of the event. */
  price: string | null
}

/** What an account with own funds gains or loses of a lot. */
export type ExportedLot = {
  account: string
  asset: ExportedAsset
  /** The journal that acquired it, and its day in UTC. */
  origin: bigint
  day: string
  /** In base units. */
  units: bigint
  /** In the smallest coins of the functional currency. */
  cost: bigint
}

/** Times are ISO 8601 in UTC with all six digits of PostgreSQL. */
export type ExportedJournal = {
  id: bigint
  postingKey: string
  kind: string
  depositId: bigint | null
  reverses: bigint | null
  reason: string | null
  /** Of the books: `2026-01`. */
  period: string
  eventAt: string
  recordedAt: string
  transfers: readonly ExportedTransfer[]
  /** Empty unless the format is in the functional currency. */
  values: readonly ExportedValue[]
  /** Of a journal in a format that has the lots of own funds; otherwise null. */
  lots: readonly ExportedLot[] | null
}

/** Lists are ordered by name. */
export type ExportContents = {
  accounts: readonly string[]
  assets: readonly { asset: ExportedAsset; amount: bigint }[]
}

/** Of one unit of an asset, in the currency of the settings. The day is in UTC. */
export type ExportedPrice = { day: string; asset: ExportedAsset; price: string }

/** Prices are ordered by day; there are none if the settings name no currency. */
export type ExportedPrices = { currency: string; prices: readonly ExportedPrice[] } | null

/** The tail is known only at the end. */
export type ExportFormat = {
  file: string
  /** Of one file, with the head; the rest goes into further files. */
  linesMax?: number
  head: string
  /** Pieces of whole lines; a piece stays in one file. */
  journal: (journal: ExportedJournal) => readonly string[]
  tail: (used: ExportContents, priced: ExportedPrices) => string
  /** Its tail has the prices. */
  hasPrices?: true
  /** It is in the functional currency, and has revaluations too. Reads all journals before anything is written. */
  gaps?: ExportGaps
  /** It has the lots of own funds, by this cost basis. */
  lots?: CostBasis & { currency: string }
}

export type ExportGaps = {
  add: (journal: ExportedJournal) => void
  /** @throws Fault `usage_bad` if anything is lacking */
  refuse: () => void
}

/** Revaluations have numbers of their own. */
export function numberOf({ id, kind }: ExportedJournal): string {
  return kind.startsWith('revaluation') ? `R${id}` : id.toString()
}

/** In UTC. */
export function dayOf({ eventAt }: ExportedJournal): string {
  return eventAt.slice(0, 10)
}

/** The journal is in the books of a later month if this one was closed. */
export function monthOf({ eventAt }: ExportedJournal): string {
  return eventAt.slice(0, 7)
}

/** No character ends the line or controls a terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
}

type AssetTally = { asset: ExportedAsset; transfers: bigint; amount: bigint }

/** The debited amount, which equals the credited amount. */
export type AssetTotal = {
  asset: string
  symbol: string
  commodity: string
  transfers: string
  amount: string
  amount_base: string
}

/** Stores accounts and assets, but no journals. */
export class Tally {
  #journals = 0n
  #transfers = 0n
  readonly #accounts = new Set<string>()
  readonly #assets = new Map<string, AssetTally>()

  add(journal: ExportedJournal): void {
    this.#journals += 1n
    this.addAccounts(journal)
    const { transfers } = journal
    for (const { debit, credit, asset, amount } of transfers) {
      this.#transfers += 1n
      this.#accounts.add(debit).add(credit)
      const before = this.#assets.get(asset.key) ?? { asset, transfers: 0n, amount: 0n }
      this.#assets.set(asset.key, {
        asset,
        transfers: before.transfers + 1n,
        amount: before.amount + amount,
      })
    }
  }

  /** Those of its values; all that a revaluation has. */
  addAccounts({ values }: ExportedJournal): void {
    for (const { account } of values) this.#accounts.add(account)
  }

  used(): ExportContents {
    return { accounts: [...this.#accounts].toSorted(), assets: this.#inOrder() }
  }

  counts(): { journals: string; transfers: string } {
    return { journals: this.#journals.toString(), transfers: this.#transfers.toString() }
  }

  totals(): AssetTotal[] {
    return this.#inOrder().map(({ asset, transfers, amount }) => ({
      asset: asset.key,
      symbol: asset.symbol,
      commodity: asset.commodity,
      transfers: transfers.toString(),
      amount: formatAmount(amount, asset.decimals),
      amount_base: amount.toString(),
    }))
  }

  #inOrder(): AssetTally[] {
    return [...this.#assets.values()].toSorted((one, other) => (one.asset.key < other.asset.key ? -1 : 1))
  }
}
