import { formatAmount } from '../../core/money.ts'
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

/** The counts so far, as the checkpoint of an interrupted export stores them. */
export type TallyState = {
  journals: string
  transfers: string
  accounts: string[]
  assets: { key: string; transfers: string; amountBase: string }[]
}

type AssetTally = { asset: ExportedAsset; transfers: bigint; amount: bigint }

/** The totals of an asset in the manifest: the debited amount, which equals the credited amount. */
export type AssetTotal = {
  asset: string
  symbol: string
  commodity: string
  transfers: string
  amount: string
  amount_base: string
}

/** Counts what an export contains. It stores accounts and assets, but no journals. */
export class Tally {
  #journals = 0n
  #transfers = 0n
  readonly #accounts = new Set<string>()
  readonly #assets = new Map<string, AssetTally>()

  add({ transfers }: ExportedJournal): void {
    this.#journals += 1n
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

  state(): TallyState {
    const assets = this.#inOrder().map(({ asset, transfers, amount }) => ({
      key: asset.key,
      transfers: transfers.toString(),
      amountBase: amount.toString(),
    }))
    return { ...this.counts(), accounts: [...this.#accounts].toSorted(), assets }
  }

  /** Continues an interrupted export. */
  static from(state: TallyState, assetOf: (key: string) => ExportedAsset): Tally {
    const tally = new Tally()
    tally.#journals = BigInt(state.journals)
    tally.#transfers = BigInt(state.transfers)
    for (const account of state.accounts) tally.#accounts.add(account)
    for (const { key, transfers, amountBase } of state.assets)
      tally.#assets.set(key, {
        asset: assetOf(key),
        transfers: BigInt(transfers),
        amount: BigInt(amountBase),
      })
    return tally
  }

  #inOrder(): AssetTally[] {
    return [...this.#assets.values()].toSorted((one, other) => (one.asset.key < other.asset.key ? -1 : 1))
  }
}
