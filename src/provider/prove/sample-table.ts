import { type Asset, toTxId } from '../../core/asset.ts'
import type { ChainTransfer } from '../../core/evidence.ts'
import { columnsOf, isObject, isSaid, type SampleColumn, saidAt, valueAt } from '../infer/columns.ts'
import { listingIn } from '../infer/find-records.ts'
import { comparable, type Hints } from '../infer/hints.ts'
import type { Samples } from '../infer/infer-profile.ts'
import type { LegSide } from '../infer/rules.ts'
import type { ProofFacts, TransactionFact } from './facts.ts'

/** `payload` is the index of the webhook; null for a record of the API. */
export type SampleRow = { record: Readonly<Record<string, unknown>>; payload: number | null }

/** What the chains show of one leg, by row. */
export type LegTable = {
  /** Columns whose transactions are of this leg. */
  columns: readonly SampleColumn[]
  /** Null if the chains do not decide. */
  transfers: readonly (ChainTransfer | null)[]
  /** Different transfers. */
  deposits: number
  /** Why there are none. */
  without: string
}

/** Payouts in a list of the record: `table` has a row for each of them, with columns such as `payouts.*.tx`. */
type PayoutTable = { list: string; table: SampleTable }

export type SampleTable = {
  rows: readonly SampleRow[]
  columns: readonly SampleColumn[]
  /** By path: the field that a column was proved to be. It is no other field. */
  taken: ReadonlyMap<string, string>
  legs: Record<LegSide, LegTable>
  refunds: LegTable
  /** By row: a transaction of it failed on a chain. */
  failures: readonly boolean[]
  /** By row: the payment is to a wallet, so that no chain shows its delivery. */
  credits: readonly boolean[]
  /** If the records list their payouts: a delivery is then all payouts of a record together. */
  payouts?: PayoutTable
}

/** @param path of the record in a webhook */
export function tableOf({ payloads, answers }: Samples, path: string, facts: ProofFacts): SampleTable {
  const listed = answers.flatMap((answer) => listingIn(answer)?.records ?? [answer])
  const all: SampleRow[] = [
    ...payloads.map((payload, index) => ({ record: valueAt(payload, path), payload: index })),
    ...listed.map((record) => ({ record, payload: null })),
  ].filter((row): row is SampleRow => isObject(row.record))
  const rows = rowsAlike(all)
  const columns = columnsOf(rows.map(({ record }) => record))
  const deposit = legOf('deposit', columns, { facts })
  const { owners, addressOwners } = facts.hints
  return {
    rows,
    columns,
    taken: new Map(),
    legs: { deposit, settlement: legOf('settlement', columns, { facts }) },
    refunds: refundsOf(deposit, columns, facts),
    credits: deposit.transfers.map((transfer) => {
      const owner = transfer === null ? undefined : addressOwners?.get(transfer.to)
      return owner !== undefined && owners.get(owner) === 'stable_wallet'
    }),
    failures: rows.map((_row, place) =>
      columns.some((column) => factsAt(column, place, facts).some(({ kind }) => kind === 'failed')),
    ),
  }
}

/** Those that may be the field. One column may be the network or the asset of both legs. */
export function columnsFor({ columns, taken, payouts }: SampleTable, field: string): SampleColumn[] {
  return columns.filter(({ path }) => {
    if (payouts !== undefined && path.startsWith(`${payouts.list}.`)) return false
    const other = taken.get(path)
    return other === undefined || sharedName(other) === sharedName(field)
  })
}

/** Its rows are payouts, if the records list these. */
export function tableOfLeg(side: LegSide, table: SampleTable): SampleTable {
  const { payouts, taken } = table
  return side === 'settlement' && payouts !== undefined ? { ...payouts.table, taken } : table
}

function sharedName(field: string): string {
  return field.replace(/^(?:deposit|settlement)\.(?=network$|asset$)/, '')
}

/** Test events may have another object in place of the record. */
function rowsAlike(rows: readonly SampleRow[]): SampleRow[] {
  const paths = rows.map(({ record }) => columnsOf([record]).map(({ path }) => path))
  const counts = new Map<string, number>()
  for (const path of paths.flat()) counts.set(path, (counts.get(path) ?? 0) + 1)
  const usual = new Set([...counts].filter(([, count]) => count * 2 >= rows.length).map(([path]) => path))
  return rows.filter((_row, place) => {
    const own = new Set(paths[place])
    return [...usual].filter((path) => own.has(path)).length * 2 > usual.size
  })
}

export function factsAt(column: SampleColumn, place: number, facts: ProofFacts): readonly TransactionFact[] {
  const leaf = column.leaves[place]
  return isSaid(leaf) ? (facts.transactions.get(toTxId(leaf.text)) ?? []) : []
}

type LegCandidates = { facts: ProofFacts; among?: readonly SampleColumn[] }

/**
 * A column is of the leg if each of its transactions paid to an address of that leg.
 * @param among the columns that may be it; all by default
 */
export function legOf(
  leg: LegSide,
  columns: readonly SampleColumn[],
  { facts, among = columns }: LegCandidates,
): LegTable {
  const { hints } = facts
  const own = leg === 'deposit' ? hints.depositAddresses : hints.recipients
  const other = leg === 'deposit' ? hints.recipients : hints.depositAddresses
  const found = among
    .map((column) => ({ column, moved: movedBy(column, facts) }))
    .filter(({ moved }) => moved.some((one) => hasPaid(one, own)))
    .filter(({ moved }) => moved.every((one) => hasPaid(one, own) || !hasPaid(one, other)))
  const size = columns[0]?.leaves.length ?? 0
  const transfers = Array.from({ length: size }, (_, place) =>
    agreed(found.map(({ moved }) => paymentAt(moved[place] ?? null, { place, columns, own }))),
  )
  return {
    columns: found.map(({ column }) => column),
    transfers,
    deposits: new Set(transfers.flatMap((one) => (one === null ? [] : [keyOf(one)]))).size,
    without: reasonWithout(columns, facts, own.size > 0 ? null : leg),
  }
}

/** A column is of the refunds if each of its transactions returned the whole payment to its payer. */
function refundsOf(deposit: LegTable, columns: readonly SampleColumn[], facts: ProofFacts): LegTable {
  const { recipients } = facts.hints
  const refundAt = (moved: MovedTransfers, place: number) => {
    const paid = deposit.transfers[place]
    const isBack = ({ network, asset, amount, to }: ChainTransfer) =>
      paid?.network === network && paid.asset === asset && paid.amount === amount && paid.from === to
    return moved?.find((one) => isBack(one) && !recipients.has(one.to)) ?? null
  }
  const found = columns
    .map((column) => ({ column, refunds: movedBy(column, facts).map(refundAt) }))
    .filter(({ refunds }) => refunds.some((one) => one !== null))
    .filter(({ column, refunds }) =>
      refunds.every((one, place) => one !== null || factsAt(column, place, facts).length === 0),
    )
  const transfers = deposit.transfers.map((_, place) =>
    agreed(found.map(({ refunds }) => refunds[place] ?? null)),
  )
  return {
    columns: found.map(({ column }) => column),
    transfers,
    deposits: new Set(transfers.flatMap((one) => (one === null ? [] : [keyOf(one)]))).size,
    without: 'no transaction of the samples returned a payment to its payer',
  }
}

export function keyOf({ network, tx, index }: ChainTransfer): string {
  return `${network}/${tx}/${index}`
}

type MovedTransfers = readonly ChainTransfer[] | null

/** By row. */
export function movedBy(column: SampleColumn, facts: ProofFacts): MovedTransfers[] {
  return column.leaves.map((_leaf, place) => {
    const [fact, second] = factsAt(column, place, facts)
    return fact?.kind === 'moved' && second === undefined ? fact.transfers : null
  })
}

export function hasPaid(moved: MovedTransfers, addresses: ReadonlySet<string>): boolean {
  return moved?.some(({ to }) => addresses.has(to)) ?? false
}

type PaidRow = { place: number; columns: readonly SampleColumn[]; own: ReadonlySet<string> }

/** Of several payments in one transaction, the one whose recipient the row names. */
function paymentAt(moved: MovedTransfers, { place, columns, own }: PaidRow): ChainTransfer | null {
  const paid = moved?.filter(({ to }) => own.has(to)) ?? []
  if (paid.length <= 1) return paid[0] ?? null
  const texts = new Set(
    columns.flatMap(({ leaves }) => {
      const leaf = leaves[place]
      return isSaid(leaf) ? [comparable(leaf.text)] : []
    }),
  )
  const named = paid.filter(({ to }) => texts.has(to))
  return named.length === 1 ? (named[0] ?? null) : null
}

/** Null if columns of one leg name different transfers. */
function agreed(transfers: readonly (ChainTransfer | null)[]): ChainTransfer | null {
  const said = transfers.filter((one) => one !== null)
  return new Set(said.map(keyOf)).size === 1 ? (said[0] ?? null) : null
}

function reasonWithout(
  columns: readonly SampleColumn[],
  facts: ProofFacts,
  unlisted: LegSide | null,
): string {
  const { silent, isOffline } = facts
  if (isOffline) return 'no node was asked'
  if (silent.length > 0)
    return `not looked up: ${silent.map(({ network }) => network).join(', ')} not reached`
  const isFound = columns.some((column) =>
    saidAt(column).some(({ text }) => facts.transactions.has(toTxId(text))),
  )
  if (!isFound) return 'no transaction of the samples was found on a configured network'
  if (unlisted === null) return 'no transaction of the samples paid an address of the address book'
  return `the address book has no ${unlisted === 'deposit' ? 'deposit addresses' : 'recipients'}`
}

/** Rows of which the fact is known. */
export type FactRows<Value> = readonly { place: number; fact: Value }[]

export function decidedRows<Value>(facts: readonly (Value | null)[]): { place: number; fact: Value }[] {
  return facts.flatMap((fact, place) => (fact === null ? [] : [{ place, fact }]))
}

/** The column has a value in each decided row, and each is what the fact says. */
export function agrees<Value>(
  { leaves }: SampleColumn,
  rows: FactRows<Value>,
  test: (text: string, fact: Value) => boolean,
): boolean {
  return (
    rows.length > 0 &&
    rows.every(({ place, fact }) => {
      const leaf = leaves[place]
      return isSaid(leaf) && test(leaf.text, fact)
    })
  )
}

export function countedAs({ deposits }: LegTable, side: LegSide): string {
  return `${deposits} ${side === 'deposit' ? 'payments' : 'deliveries'}`
}

export function valuesOf<Fact>(rows: FactRows<Fact>, value: (fact: Fact) => string): number {
  return new Set(rows.map(({ fact }) => value(fact))).size
}

export function assetOf({ networks: all }: Pick<Hints, 'networks'>, key: string): Asset | undefined {
  return all.flatMap((one) => one.assets).find((asset) => asset.key === key)
}
