import { formatAmount } from '../../core/money.ts'
import type { ExportContents, ExportedAsset, ExportedJournal } from './exported-journal.ts'

/** What was written so far, as an export that was broken off remembers it. */
export type TallyState = {
  journals: string
  transfers: string
  accounts: string[]
  assets: { key: string; transfers: string; amountBase: string }[]
}

type AssetTally = { asset: ExportedAsset; transfers: bigint; amount: bigint }

/** What the manifest says of an asset: what was debited, which is what was credited. */
export type AssetTotal = {
  asset: string
  symbol: string
  commodity: string
  transfers: string
  amount: string
  amount_base: string
}

/** Counts what an export holds. It remembers accounts and assets, and no journal. */
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

  /** Goes on where an export was broken off. */
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
