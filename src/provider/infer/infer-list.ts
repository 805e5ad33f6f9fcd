import { columnsOf, isObject, valueAt } from './columns.ts'
import type { Doubts, Section } from './doubts.ts'
import { wordsOf } from './forms.ts'

/** The records of an answer and their path; null if the answer is the list itself. */
export type RecordListing = { items: string | null; records: readonly unknown[] }

/** Finds the list of records in an answer of the service: the longest list of objects. */
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

/** Lists that are not inside another list. */
function listPaths(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [path]
  if (!isObject(value) || path.split('.').length > depthMax) return []
  return Object.entries(value).flatMap(([name, one]) =>
    listPaths(one, path === '' ? name : `${path}.${name}`),
  )
}

/** Drafts the section `list`: derives the paging from the fields beside the records. */
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

/** Uses the first time column that only rises or only falls; newest first is the default. */
function orderOf(records: readonly unknown[]): RecordOrder {
  for (const { leaves } of columnsOf(records)) {
    const texts = leaves.map((leaf) => leaf?.text ?? '')
    const isTime = texts.every((text) => /^(?:\d{4}-\d\d-\d\d[T ]|[1-9]\d{9}$|[1-9]\d{12}$)/.test(text))
    const isRising = texts.every((text, place) => place === 0 || (texts[place - 1] ?? '') <= text)
    const isFalling = texts.every((text, place) => place === 0 || (texts[place - 1] ?? '') >= text)
    if (isTime && isRising !== isFalling) return isRising ? { order: 'oldest-first' } : {}
  }
  return {}
}
