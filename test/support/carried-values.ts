import { accounts } from '../../src/core/chart.ts'
import { type CarriedJournal, carryValues } from '../../src/ledger/carry-values.ts'
import { type CostBasis, isOwn, type Lot, lotChanges } from '../../src/ledger/lots.ts'
import { Pools } from '../../src/ledger/pools.ts'
import type { JournalToValue, OpeningLot, UnitChange } from '../../src/ledger/valued-journal.ts'

export const [transit, forwarded, owed] = [
  'assets:in_transit:base',
  'assets:forwarded:x:y',
  'liabilities:deposits:channel:shop',
]
export const treasuries = ['assets:treasury:one', 'assets:treasury:two'] as const
export const [one, two] = treasuries
export const basisOf = (
  method: CostBasis['method'] = 'fifo',
  pool: CostBasis['pool'] = 'account',
): CostBasis => ({
  own: ['assets:treasury:*'],
  method,
  pool,
})

/** Cents of one unit, with one more digit than the currency has. */
export type Line = { debit: string; credit: string; asset: string; amount: bigint; price: bigint }

function changesOf(lines: readonly Line[]): UnitChange[] {
  const units = new Map<string, UnitChange>()
  for (const { debit, credit, asset, amount, price } of lines)
    for (const [account, signed] of [
      [debit, amount],
      [credit, -amount],
    ] as const) {
      const key = `${account} ${asset}`
      const before = units.get(key)?.units ?? 0n
      units.set(key, { account, asset, units: before + signed, price: { digits: price, scale: 1 } })
    }
  return [...units.values()].filter((change) => change.units !== 0n)
}

/** Values journals one after the other, numbered from 1, an hour apart. */
export class Valued {
  pools: Pools
  /** Keys of pools that journals have read. */
  readonly read: string[] = []
  /** With what own accounts gain or lose of each lot. */
  readonly journals: (CarriedJournal & { journal: JournalToValue; own: Lot[] })[] = []
  readonly basis: CostBasis
  /** As if each journal were valued by another process, which loads lots in another order. */
  isReloading = false

  constructor(basis: CostBasis = basisOf()) {
    this.basis = basis
    this.pools = new Pools([], basis)
  }

  book(lines: readonly Line[], depositId: bigint | null = null, eventAt?: Date): CarriedJournal {
    const id = BigInt(this.journals.length + 1)
    const changes = changesOf(lines)
    return this.#carry({ id, eventAt: eventAt ?? hour(id), depositId, changes, lots: [], reverses: null })
  }

  /** Own units, each lot with its cost, against equity. */
  open(lots: readonly OpeningLot[], price: bigint): CarriedJournal {
    const id = BigInt(this.journals.length + 1)
    const lines = lots.map(({ account: debit, asset, units: amount }) => {
      return { debit, credit: accounts.opening, asset, amount, price }
    })
    const changes = changesOf(lines)
    return this.#carry({ id, eventAt: hour(id), depositId: null, changes, lots, reverses: null })
  }

  reverse(number: number): CarriedJournal {
    const original = this.journals[number - 1]
    if (original === undefined) throw new Error('there is no such journal')
    const { journal, lines, disposals } = original
    const changes = journal.changes.map((change) => ({ ...change, units: -change.units }))
    const id = BigInt(this.journals.length + 1)
    return this.#carry({ ...journal, id, changes, lots: [], reverses: { id: journal.id, lines, disposals } })
  }

  lots(): Lot[] {
    return this.pools.lots()
  }

  /** Values by account and asset, of lines that are not zero. */
  values(): Record<string, bigint> {
    const totals = new Map<string, bigint>()
    for (const { account, asset, value } of this.journals.flatMap(({ lines }) => lines)) {
      const key = asset === null ? account : `${account} ${asset}`
      totals.set(key, (totals.get(key) ?? 0n) + value)
    }
    return Object.fromEntries([...totals].filter(([, value]) => value !== 0n))
  }

  #carry(journal: JournalToValue): CarriedJournal {
    const pools = {
      ofDeposit: (id: bigint | null) => this.pools.ofDeposit(id),
      get: (key: string) => {
        this.read.push(key)
        return this.pools.get(key)
      },
    }
    const carried = carryValues(journal, pools, this.basis)
    const changed = [...carried.pools].flatMap(([key, pool]) => lotChanges(this.pools.get(key), pool))
    for (const [key, pool] of carried.pools) this.pools.set(key, pool)
    if (this.isReloading) this.pools = new Pools(this.lots().toReversed(), this.basis)
    this.journals.push({
      ...carried,
      journal,
      own: changed.filter(({ account }) => isOwn(account, this.basis)),
    })
    return carried
  }
}

export const hour = (id: bigint) => new Date(Number(id) * 3_600_000)
export const gain = ({ lines }: CarriedJournal) =>
  -lines.reduce((sum, { account, value }) => sum + (account === 'income:gains:realised' ? value : 0n), 0n)

export const [paid, delivered] = ['trading:A', 'trading:B']
export const deposit = (price: bigint): Line => ({
  debit: transit,
  credit: owed,
  asset: 'A',
  amount: 100n,
  price,
})
export const settlement = (priceA: bigint, priceB: bigint): Line[] => [
  { debit: paid, credit: transit, asset: 'A', amount: 100n, price: priceA },
  { debit: forwarded, credit: delivered, asset: 'B', amount: 99n, price: priceB },
  { debit: 'expenses:fees:service', credit: delivered, asset: 'B', amount: 1n, price: priceB },
]
export const conversion = (priceA: bigint, priceB: bigint): Line[] => [
  { debit: owed, credit: paid, asset: 'A', amount: 100n, price: priceA },
  { debit: delivered, credit: owed, asset: 'B', amount: 100n, price: priceB },
]

export const buy = (amount: bigint, price: bigint, account: string = one): Line => ({
  debit: account,
  credit: 'equity:capital',
  asset: 'A',
  amount,
  price,
})
export const sell = (amount: bigint, price: bigint, account: string = one): Line => ({
  debit: 'expenses:goods',
  credit: account,
  asset: 'A',
  amount,
  price,
})
