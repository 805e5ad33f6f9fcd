import { assign, type ColumnMatch } from './assign.ts'
import { columnsOf, isObject, objectPaths, type SampleColumn, valueAt } from './columns.ts'
import { isSaid, wordsOf } from './forms.ts'
import type { Hints } from './hints.ts'
import { oneLeg, type RecordField, recordRules, transactionNames, twoLegs } from './rules.ts'
import { weighRecord } from './weigh.ts'

/**
 * Where the record is in the payloads of webhooks: the path whose object is most like the listed records, or, where
 * none are known, the innermost object that tells both of a deposit's payment and of its status. The payload itself is
 * the empty path.
 */
export function findRecord(payloads: readonly unknown[], records: readonly unknown[], hints: Hints): string {
  const paths = objectPaths(payloads)
  const listed = new Set(columnsOf(records).map(({ path }) => path))
  if (listed.size > 0) {
    const [best] = paths
      .map((path) => ({ path, likeness: likeness(columnsOf(recordsAt(payloads, path)), listed) }))
      .toSorted((one, other) => other.likeness - one.likeness)
    if (best !== undefined && best.likeness > 0.5) return best.path
  }
  return paths.findLast((path) => tellsOfDeposit(columnsOf(recordsAt(payloads, path)), hints)) ?? ''
}

/** The records of those payloads that have one at the path. */
export function recordsAt(payloads: readonly unknown[], path: string): unknown[] {
  return payloads.map((payload) => valueAt(payload, path)).filter(isObject)
}

/** Those that tell of a deposit: what a test of the endpoint carries at the same path is no record of one. */
export function depositsAmong(records: readonly unknown[], hints: Hints): unknown[] {
  const columns = columnsOf(records)
  const address = findFields(columns, hints).get('deposit.address')?.column
  return records.filter((_record, place) => isSaid(address?.leaves[place]))
}

/** Shared paths over all paths, from 0 to 1. */
function likeness(columns: readonly SampleColumn[], listed: ReadonlySet<string>): number {
  const shared = columns.filter(({ path }) => listed.has(path)).length
  return shared / (columns.length + listed.size - shared)
}

const telling = ['deposit.address', 'deposit.amount', 'status'] as const

function tellsOfDeposit(columns: readonly SampleColumn[], hints: Hints): boolean {
  const found = findFields(columns, hints)
  return telling.every((field) => found.has(field))
}

/** Where each field of a record is. One that names a single transaction tells of a payment alone. */
export function findFields(columns: readonly SampleColumn[], hints: Hints): Map<RecordField, ColumnMatch> {
  const transactions = columns.filter(({ path }) =>
    wordsOf(path).last.some((word) => transactionNames.includes(word)),
  )
  const legs = transactions.length === 1 ? oneLeg : twoLegs
  const found = assign(columns, { rules: recordRules, legs, weigh: weighRecord(hints, columns) })
  if (legs === oneLeg)
    for (const field of found.keys()) if (field.startsWith('settlement.')) found.delete(field)
  return found
}
