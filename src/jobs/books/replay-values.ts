import type { Kysely } from 'kysely'
import { type CostBasis, isOwn, type Lot, lotChanges, type Pool } from '../../ledger/lots.ts'
import { Pools } from '../../ledger/pools.ts'
import {
  type PricedLine,
  readUnvalued,
  readValuedJournals,
  type UnitChangeRow,
} from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'
import { eachInTime, valueJournal } from './value-books.ts'

type JournalSpan = Parameters<typeof readUnvalued>[1]

/** Valued journals in their order, with their stored prices, so that they can be valued again. */
export async function readStored(db: Kysely<Tables>, span: JournalSpan) {
  const { journals, changes } = await readUnvalued(db, span)
  const ids = journals.map(({ id }) => id)
  const stored = await readValuedJournals(db, [...ids, ...journals.flatMap(({ reverses }) => reverses ?? [])])
  const byJournal = Map.groupBy(changes, ({ journal }) => journal)
  const again = journals.map((journal) => {
    const priceOf = pricesIn(stored.get(journal.id)?.lines ?? [])
    const rows = (byJournal.get(journal.id) ?? []).map(
      (row): UnitChangeRow => ({ ...row, ...priceOf(row.asset) }),
    )
    return { journal, rows }
  })
  return { again, stored }
}

function pricesIn(lines: readonly PricedLine[]) {
  const prices = new Map(
    lines.map(({ asset, price, priceAt, source }) => [asset, { price, priceAt, source }]),
  )
  return (asset: string) => prices.get(asset) ?? { price: null, priceAt: null, source: null }
}

/** Values the books again, from their first journal on, for the lots of own funds that each journal changes. */
export class LotReplay {
  readonly #rule: CostBasis & { currency: string }
  readonly #pools: NotedPools
  #after = 0n

  constructor(rule: CostBasis & { currency: string }) {
    this.#rule = rule
    this.#pools = new NotedPools([], rule)
  }

  /** By journal, of the journals after those of the last call. */
  async changesUpTo(db: Kysely<Tables>, last: bigint): Promise<Map<bigint, readonly Lot[]>> {
    const changes = new Map<bigint, readonly Lot[]>()
    while (this.#after < last) {
      const { again, stored } = await readStored(db, {
        after: this.#after,
        upTo: last,
        limit: journalsAtOnce,
      })
      const count = await eachInTime(again, (one) => {
        valueJournal({ rule: this.#rule, pools: this.#pools }, one, stored)
        const own = this.#pools.takeChanges().filter(({ account }) => isOwn(account, this.#rule))
        changes.set(one.journal.id, own)
      })
      this.#after = again[count - 1]?.journal.id ?? last
    }
    return changes
  }
}

const journalsAtOnce = 500

class NotedPools extends Pools {
  #changes: Lot[] = []

  override set(key: string, pool: Pool): void {
    this.#changes.push(...lotChanges(this.get(key), pool))
    super.set(key, pool)
  }

  /** Since the last call. */
  takeChanges(): Lot[] {
    const changes = this.#changes
    this.#changes = []
    return changes
  }
}
