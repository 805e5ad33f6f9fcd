import { assign, type ColumnMatch, weighRecord } from './assign.ts'
import {
  columnsOf,
  isObject,
  isSaid,
  nameForm,
  objectPaths,
  type SampleColumn,
  valueAt,
  wordsOf,
} from './columns.ts'
import type { Hints } from './hints.ts'
import { oneLeg, type RecordField, recordRules, refundNames, transactionNames, twoLegs } from './rules.ts'

/**
 * The object most similar to the listed records or, without these, the innermost with both a payment and a
 * status. The payload itself has the empty path.
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

export function recordsAt(payloads: readonly unknown[], path: string): unknown[] {
  return payloads.map((payload) => valueAt(payload, path)).filter(isObject)
}

/** Test events may have another object at the same path. */
export function depositsAmong(records: readonly unknown[], hints: Hints): unknown[] {
  const columns = columnsOf(records)
  const address = findFields(columns, hints).get('deposit.address')?.column
  return records.filter((_record, place) => isSaid(address?.leaves[place]))
}

/** Shared paths divided by all paths, from 0 to 1. */
export function likeness(columns: readonly SampleColumn[], listed: ReadonlySet<string>): number {
  const shared = columns.filter(({ path }) => listed.has(path)).length
  return shared / (columns.length + listed.size - shared)
}

export const tellingFields = ['deposit.address', 'deposit.amount', 'status'] as const

export function concernsDeposit(columns: readonly SampleColumn[], hints: Hints): boolean {
  const found = findFields(columns, hints)
  return tellingFields.every((field) => found.has(field))
}

/** A record with a single transaction describes a payment only. */
export function findFields(columns: readonly SampleColumn[], hints: Hints): Map<RecordField, ColumnMatch> {
  const transactions = columns.filter(({ path }) => {
    const { last, before } = wordsOf(path)
    const isRefund = [...last, ...before].some((word) => refundNames.includes(word))
    return !isRefund && last.some((word) => transactionNames.includes(word))
  })
  const legs = transactions.length === 1 ? oneLeg : twoLegs
  const found = assign(columns, { rules: recordRules, legs, weigh: weighRecord(hints, columns) })
  if (legs === oneLeg)
    for (const field of found.keys()) if (field.startsWith('settlement.')) found.delete(field)
  return found
}

/** `items` is null if the answer is the list itself. */
export type RecordListing = { items: string | null; records: readonly unknown[] }

export function listingIn(answer: unknown): RecordListing | null {
  if (Array.isArray(answer)) return { items: null, records: answer.filter(isObject) }
  const lists = listPaths(answer).map((items) => ({
    items,
    records: (valueAt(answer, items) as unknown[]).filter(isObject),
  }))
  return (
    lists
      .filter(({ records }) => records.length > 0)
      .toSorted((one, other) => other.records.length - one.records.length)[0] ?? null
  )
}

/** Lists are at or near the top. */
const depthMax = 4

export function listPaths(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [path]
  if (!isObject(value) || path.split('.').length > depthMax) return []
  return Object.entries(value)
    .filter(([name]) => nameForm.test(name))
    .flatMap(([name, one]) => listPaths(one, path === '' ? name : `${path}.${name}`))
}

export function draftList(answer: unknown, { items, records }: RecordListing, doubts: Doubts): Section {
  const beside = columnsOf([answer]).filter(({ path }) => items === null || !path.startsWith(`${items}.`))
  const named = (...names: string[]) =>
    beside.find(({ path }) => wordsOf(path).last.some((word) => names.includes(word)))
  const page = named('page')
  const offset = named('offset', 'skip')
  const cursor = named('cursor', 'next', 'continuation', 'marker')
  const draft = { items, ...orderOf(records) }
  if (page !== undefined && /^\d+$/.test(page.leaves[0]?.text ?? '')) {
    doubts.note(['list', 'pages'], `the answer has ${page.path}; the parameter may be called otherwise`)
    return { ...draft, pages: 'page', ...(page.leaves[0]?.text === '0' && { firstPage: 0 }) }
  }
  if (offset !== undefined) {
    doubts.note(['list', 'pages'], `the answer has ${offset.path}; the parameter may be called otherwise`)
    return { ...draft, pages: 'offset' }
  }
  if (cursor === undefined) {
    doubts.note(['list', 'items'], 'the answer says nothing of further pages')
    return draft
  }
  return { ...draft, pages: 'cursor', next: cursor.path }
}

type RecordOrder = { order?: 'oldest-first' }

/** The first time column that only rises or only falls; newest first is the default. */
export function orderOf(records: readonly unknown[]): RecordOrder {
  for (const { leaves } of columnsOf(records)) {
    const texts = leaves.map((leaf) => leaf?.text ?? '')
    const isTime = texts.every((text) => /^(?:\d{4}-\d\d-\d\d[T ]|[1-9]\d{9}$|[1-9]\d{12}$)/.test(text))
    const isRising = texts.every((text, place) => place === 0 || (texts[place - 1] ?? '') <= text)
    const isFalling = texts.every((text, place) => place === 0 || (texts[place - 1] ?? '') >= text)
    if (isTime && isRising !== isFalling) return isRising ? { order: 'oldest-first' } : {}
  }
  return {}
}

export type Section = { [key: string]: unknown }

export type Doubt = { path: readonly string[]; text: string }

export class Doubts {
  readonly all: Doubt[] = []

  note(path: readonly string[], text: string | null | undefined): void {
    if (text !== null && text !== undefined) this.all.push({ path, text })
  }

  noteEach(path: readonly string[], texts: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(texts)) this.note([...path, name], text)
  }
}
