import type { ChainTransfer } from '../../core/evidence.ts'
import { type Amount, toAmount } from '../../core/money.ts'
import { columnsOf, isObject, type SampleColumn, valueAt } from '../infer/columns.ts'
import { listPaths, type Section } from '../infer/find-records.ts'
import type { ProofFacts } from './facts.ts'
import { factsAt, hasPaid, keyOf, type LegTable, legOf, movedBy, type SampleTable } from './sample-table.ts'

/** Captures may come from attackers. */
const listsMax = 20

/**
 * If a list inside the records holds the transactions of deliveries, and no others that a chain shows, its items are the
 * payouts of the record. The delivery of a record is then all of its payouts together.
 */
export function withPayouts(table: SampleTable, facts: ProofFacts): SampleTable {
  const lists = new Set(table.rows.flatMap(({ record }) => listPaths(record)))
  for (const list of [...lists].slice(0, listsMax)) {
    const items = table.rows.flatMap(({ record }, row) =>
      itemsOf(record, list).map((item) => ({ row, item })),
    )
    const payouts = payoutsIn(list, items, { table, facts })
    if (payouts === null) continue
    const { settlement } = payouts.legs
    const whole = deliveriesOf(items, settlement, table.rows.length)
    const deposits = new Set(whole.flatMap((one) => (one === null ? [] : [keyOf(one)]))).size
    const legs = { ...payouts.legs, settlement: { ...settlement, deposits } }
    return {
      ...table,
      legs: { ...table.legs, settlement: { ...settlement, transfers: whole, deposits } },
      payouts: { list, table: { ...payouts, legs } },
    }
  }
  return table
}

/** A record of one payout each; without payouts, the record without the list. */
function itemsOf(record: Section, list: string): Section[] {
  const items = valueAt(record, list)
  const all = Array.isArray(items) && items.length > 0 ? (items as unknown[]) : [undefined]
  return all.map((item) => replaced(record, list.split('.'), item === undefined ? {} : { '*': item }))
}

function replaced(record: Section, [name = '', ...rest]: readonly string[], value: unknown): Section {
  const child = record[name]
  if (rest.length > 0 && !isObject(child)) return record
  return { ...record, [name]: rest.length === 0 ? value : replaced(child as Section, rest, value) }
}

type PayoutRow = { row: number; item: Section }

function payoutsIn(
  list: string,
  items: readonly PayoutRow[],
  { table, facts }: { table: SampleTable; facts: ProofFacts },
): SampleTable | null {
  const columns = columnsOf(items.map(({ item }) => item))
  const own = columns.filter(({ path }) => path === `${list}.*` || path.startsWith(`${list}.*.`))
  const settlement = legOf('settlement', columns, { facts, among: own })
  const isOfBoth = legOf('deposit', columns, { facts, among: own }).columns.length > 0
  const areAll = settlement.columns.every((column) => areDeliveries(column, facts))
  if (settlement.columns.length === 0 || isOfBoth || !areAll) return null
  const at = <Value>(values: readonly Value[]) => items.map(({ row }) => values[row] as Value)
  const { deposit } = table.legs
  return {
    rows: at(table.rows),
    columns,
    taken: table.taken,
    legs: { deposit: { ...deposit, transfers: at(deposit.transfers) }, settlement },
    refunds: { ...table.refunds, transfers: at(table.refunds.transfers) },
    failures: at(table.failures),
    credits: at(table.credits),
  }
}

/** Of a transaction that failed, or paid others, the amount does not count. */
function areDeliveries(column: SampleColumn, facts: ProofFacts): boolean {
  const moved = movedBy(column, facts)
  return column.leaves.every(
    (_leaf, place) =>
      factsAt(column, place, facts).length === 0 || hasPaid(moved[place] ?? null, facts.hints.recipients),
  )
}

/** By row of the records: all payouts as one transfer; null if the chains do not decide one of them. */
function deliveriesOf(
  items: readonly PayoutRow[],
  { transfers }: LegTable,
  rows: number,
): (ChainTransfer | null)[] {
  const parts = Map.groupBy(items.keys(), (place) => items[place]?.row)
  return Array.from({ length: rows }, (_, row) => {
    const all = (parts.get(row) ?? []).map((place) => transfers[place] ?? null)
    const [first = null] = all
    const isOne = all.every((one) => one?.asset === first?.asset && one?.to === first?.to)
    return first === null || !isOne ? null : { ...first, amount: sumOf(all) }
  })
}

function sumOf(transfers: readonly (ChainTransfer | null)[]): Amount {
  return toAmount(transfers.reduce((sum, one) => sum + (one?.amount ?? 0n), 0n))
}

/** With `*` for the items of the list. */
export function inItems(draft: Section, list: string): Section {
  const { record } = draft as { record?: Section }
  const start = `${list}.`
  const at = (path: string) =>
    path.startsWith(start) ? start + path.slice(start.length).replace(/^\d+(?=\.|$)/, '*') : path
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return at(value)
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]))
      : value
  }
  return { ...draft, record: { ...record, settlement: walk(record?.settlement) } }
}
