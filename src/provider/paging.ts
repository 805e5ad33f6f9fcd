import type { ListProfile } from './profile/profile-schema.ts'

/**
 * Start of a page, as text that can be stored: a cursor, a number, a time or a path. Null starts the list.
 */
export type PageMark = string | null

/** Null if the record lacks a field; it is stored all the same. */
export type RecordHead = { id: string | null; time: Date | null }

export type RawPage = {
  mark: PageMark
  heads: readonly RecordHead[]
  cursor: string | null
  link: string | null
}

export type NextPage = {
  mark: PageMark
  /** The records shifted during the reading; the mark leads back so that none is skipped. */
  isDrift: boolean
}

/** `next` returns null after the last page. */
export type PagingMethod = {
  query: (mark: PageMark, since: Date | null) => Record<string, string>
  /** @throws Error if the pages cannot be followed */
  next: (page: RawPage) => NextPage | null
}

export function createPaging(list: ListProfile): PagingMethod {
  return pagings[list.pages](list)
}

const pagings: Record<ListProfile['pages'], (list: ListProfile) => PagingMethod> = {
  cursor: (list) => ({
    query: (mark, since) => ({
      ...sinceQuery(list, since),
      ...(mark !== null && { [list.parameters.cursor]: mark }),
    }),
    next: ({ mark, cursor }) => onward(mark, cursor, 'cursor'),
  }),
  link: (list) => ({
    query: (mark, since) => (mark === null ? sinceQuery(list, since) : {}),
    next: ({ mark, link }) => onward(mark, link, 'link'),
  }),
  page: (list) => ({
    query: (mark, since) => ({
      ...sinceQuery(list, since),
      [list.parameters.page]: mark ?? `${list.firstPage}`,
    }),
    // A page may have fewer records than requested, so only an empty one is the last.
    next: ({ mark, heads }) =>
      heads.length === 0 ? null : { mark: `${Number(mark ?? list.firstPage) + 1}`, isDrift: false },
  }),
  offset: (list) => ({
    query: (mark, since) => ({
      ...sinceQuery(list, since),
      [list.parameters.offset]: `${readOffset(mark).offset}`,
    }),
    next: (page) => nextOffset(page, list.limit),
  }),
  since: (list) => ({
    query: (mark, since) => sinceQuery(list, mark === null ? since : new Date(mark)),
    next: (page) => nextTime(page, list.limit),
  }),
}

function sinceQuery({ since }: ListProfile, time: Date | null): Record<string, string> {
  if (since === undefined || time === null) return {}
  const seconds = Math.floor(time.getTime() / 1000)
  const text = { iso: time.toISOString(), s: `${seconds}`, ms: `${time.getTime()}` }[since.as]
  return { [since.parameter]: text }
}

function onward(mark: PageMark, next: PageMark, what: string): NextPage | null {
  if (next === null) return null
  if (next === mark)
    throw new Error(`the page leads to itself: its ${what} is the one that it was asked for with`)
  return { mark: next, isDrift: false }
}

/**
 * Each page starts with the last record of the previous one. If it is missing, records moved up, so the
 * previous page is read again.
 */
function nextOffset({ mark, heads }: RawPage, limit: number): NextPage | null {
  const { offset, joint } = readOffset(mark)
  if (joint !== null && heads.every(({ id }) => id !== joint))
    return { mark: `${Math.max(0, offset - limit)}`, isDrift: true }
  const last = heads.at(-1)?.id ?? null
  const isOnlyJoint = joint !== null && heads.length === 1
  if (heads.length === 0 || isOnlyJoint) return null
  return last === null || heads.length === 1
    ? { mark: `${offset + heads.length}`, isDrift: false }
    : { mark: `${offset + heads.length - 1} ${last}`, isDrift: false }
}

function readOffset(mark: PageMark): { offset: number; joint: string | null } {
  const [, digits = '0', joint] = /^(\d+)(?: ([^]+))?$/.exec(mark ?? '0') ?? []
  return { offset: Number(digits), joint: joint ?? null }
}

const stepMs = 1000

/**
 * Continues one second before the newest record: `since` may be exclusive, and records at the edge may have
 * equal times.
 */
function nextTime({ mark, heads }: RawPage, limit: number): NextPage | null {
  if (heads.length === 0) return null
  const times = heads.flatMap(({ time }) => (time === null ? [] : [time.getTime()]))
  if (times.length === 0) throw new Error('no record of the page tells its time: pages cannot go on from it')
  const newest = Math.max(...times)
  const current = mark === null ? Number.NEGATIVE_INFINITY : Date.parse(mark)
  const next = newest - stepMs > current ? newest - stepMs : newest
  if (next - current >= stepMs || (next > current && heads.length >= limit))
    return { mark: new Date(next).toISOString(), isDrift: false }
  if (heads.length < limit) return null
  throw new Error(
    `a page of ${heads.length} records does not get past ${new Date(newest).toISOString()}: ask for more`,
  )
}
