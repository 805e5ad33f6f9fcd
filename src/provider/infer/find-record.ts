import { assign, type ColumnMatch } from './assign.ts'
import { columnsOf, isObject, objectPaths, type SampleColumn, valueAt } from './columns.ts'
import { isSaid, wordsOf } from './forms.ts'
import type { Hints } from './hints.ts'
import { oneLeg, type RecordField, recordRules, transactionNames, twoLegs } from './rules.ts'
import { weighRecord } from './weigh.ts'

/**
 * Finds the path of the record in webhook payloads: the object most similar to the listed records, or, without listed
 * records, the innermost object with both a payment and a status. The payload itself has the empty path.
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
  return paths.findLast((path) => concernsDeposit(columnsOf(recordsAt(payloads, path)), hints)) ?? ''
}

/** The records of the payloads that have one at the path. */
export function recordsAt(payloads: readonly unknown[], path: string): unknown[] {
  return payloads.map((payload) => valueAt(payload, path)).filter(isObject)
}

/** The records of deposits. Test events may have another object at the same path. */
export function depositsAmong(records: readonly unknown[], hints: Hints): unknown[] {
  const columns = columnsOf(records)
  const address = findFields(columns, hints).get('deposit.address')?.column
  return records.filter((_record, place) => isSaid(address?.leaves[place]))
}

/** Shared paths divided by all paths, from 0 to 1. */
function likeness(columns: readonly SampleColumn[], listed: ReadonlySet<string>): number {
  const shared = columns.filter(({ path }) => listed.has(path)).length
  return shared / (columns.length + listed.size - shared)
}

const telling = ['deposit.address', 'deposit.amount', 'status'] as const

function concernsDeposit(columns: readonly SampleColumn[], hints: Hints): boolean {
  const found = findFields(columns, hints)
  return telling.every((field) => found.has(field))
}

/** The column of each field of a record. A record with a single transaction describes a payment only. */
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
