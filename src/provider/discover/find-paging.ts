import { columnsOf, hasForm, type SampleColumn, saidAt, valueAt, wordsOf } from '../infer/columns.ts'
import type { RecordListing, Section } from '../infer/find-records.ts'
import type { FoundCall } from './find-calls.ts'
import { cursorNames, lastRecordNames, limitNames, offsetNames, pageNames } from './parameter-names.ts'
import type { Probe, ProbedAnswer } from './probe.ts'

export type ProofNote = { path: readonly string[]; isProved: boolean; text: string }

/** The section `list` of a profile, with what shows each line of it. */
export type FoundList = { section: Section; notes: readonly ProofNote[] }

const idWords = ['id', 'uid', 'uuid', 'guid']
/** Each is tried with each name. */
const idsMax = 3
const cursorWords = ['cursor', 'next', 'token', 'continuation', 'marker', 'after']

/** With fewer records, one page cannot be told from the next. */
const recordsMin = 4
const limitUsual = 100

type Paging = { probe: Probe; path: string; first: Page; limit: Readonly<Record<string, string>> }
type Page = ProbedAnswer & { listing: RecordListing }
/** `parameter` is set if its name is not the usual one. */
type FoundPaging = { section: Section; parameter?: Section; proof: string }

/** Asks for small pages, and compares the records of one with those of the next. */
export async function findPaging(probe: Probe, { path, answer }: FoundCall): Promise<FoundList> {
  const whole = answer as Page
  const { items, records } = whole.listing
  if (records.length < recordsMin) {
    const text = `the list has ${records.length} records, too few to try its pages: at least ${recordsMin} are needed`
    return { section: { path, items }, notes: [{ path: ['list', 'pages'], isProved: false, text }] }
  }
  const limit = await findLimit(probe, path)
  const small =
    limit === null ? { first: whole, limit: {} } : { first: limit.page, limit: { [limit.name]: '2' } }
  const paging = await findPages({ probe, path, ...small })
  const size = limit === null ? {} : await sizeOf(probe, path, limit.name)
  const parameters = { ...parameter('limit', limit?.name), ...paging?.parameter }
  return {
    section: {
      path,
      items,
      ...paging?.section,
      ...size,
      ...(Object.keys(parameters).length > 0 && { parameters }),
    },
    notes: [limitNote(limit?.name), pagesNote(paging)],
  }
}

function limitNote(name: string | undefined): ProofNote {
  const path = ['list', 'limit']
  return name === undefined
    ? { path, isProved: false, text: 'no known parameter changes the size of a page' }
    : { path, isProved: true, text: `${name}=2 returned 2 records` }
}

function pagesNote(paging: FoundPaging | null): ProofNote {
  const path = ['list', 'pages']
  return paging === null
    ? { path, isProved: false, text: 'no known parameter and no link leads to further records' }
    : { path, isProved: true, text: paging.proof }
}

/** Nothing if the name is the usual one. */
function parameter(of: string, name: string | undefined): Section {
  return name === undefined || name === of ? {} : { [of]: name }
}

async function findLimit(probe: Probe, path: string): Promise<{ name: string; page: Page } | null> {
  for (const name of limitNames) {
    const page = pageOf(await probe(path, { [name]: '2' }))
    if (page?.listing.records.length === 2) return { name, page }
  }
  return null
}

/** A service may refuse a size that it does not offer. */
async function sizeOf(probe: Probe, path: string, name: string): Promise<Section> {
  for (const size of [limitUsual, 50, 25, 10])
    if (pageOf(await probe(path, { [name]: `${size}` })) !== null)
      return size === limitUsual ? {} : { limit: size }
  return { limit: 10 }
}

function pageOf(answer: ProbedAnswer | null): Page | null {
  return answer !== null && answer.listing !== null ? { ...answer, listing: answer.listing } : null
}

async function findPages(paging: Paging): Promise<FoundPaging | null> {
  for (const find of [byHeader, byLinkInBody, byCursor, byNumber, byOffset, byLastRecord]) {
    const found = await find(paging)
    if (found !== null) return found
  }
  return null
}

async function byHeader({ probe, first }: Paging): Promise<FoundPaging | null> {
  const target = /<([^>]*)>[^,]*rel="?next/.exec(first.link ?? '')?.[1]
  return target !== undefined && (await leadsOn(probe, first, target))
    ? { section: { pages: 'link' }, proof: 'the header Link led to other records' }
    : null
}

const linkForm = /^(?:https?:\/)?\/\S+$/

async function byLinkInBody({ probe, first }: Paging): Promise<FoundPaging | null> {
  for (const { path, leaves } of besides(first).filter((one) => isNext(one.path))) {
    const target = leaves[0]?.text ?? ''
    if (linkForm.test(target) && (await leadsOn(probe, first, target)))
      return { section: { pages: 'link', next: path }, proof: `the link at ${path} led to other records` }
  }
  return null
}

/** A link may be absolute; paths are relative to the address of the service. */
async function leadsOn(probe: Probe, first: Page, target: string): Promise<boolean> {
  const { pathname, search } = new URL(target, 'http://service')
  const own = first.path.replace(/\?.*/, '')
  const next = pageOf(await probe((pathname.endsWith(own) ? own : pathname) + search))
  return next !== null && isOther(first, next)
}

async function byCursor({ probe, path, first, limit }: Paging): Promise<FoundPaging | null> {
  for (const { path: place, leaves } of besides(first).filter((one) => isCursor(one.path))) {
    const text = leaves[0]?.kind === 'boolean' ? '' : (leaves[0]?.text ?? '')
    for (const name of text === '' ? [] : namesOfCursor(place)) {
      const next = pageOf(await probe(path, { ...limit, [name]: text }))
      if (next !== null && isOther(first, next))
        return {
          section: { pages: 'cursor', next: place },
          parameter: parameter('cursor', name),
          proof: `${name} with the value at ${place} led to other records`,
        }
    }
  }
  return null
}

/** As the field is called, with and without "next", then the usual ones. */
function namesOfCursor(place: string): ReadonlySet<string> {
  const last = place.split('.').at(-1) ?? ''
  const short = last.replace(/^next[_-]?/i, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase())
  return new Set([last, short, ...cursorNames].filter((name) => name !== ''))
}

async function byNumber({ probe, path, first, limit }: Paging): Promise<FoundPaging | null> {
  const own = besides(first).flatMap((column) => {
    const isNumber = hasForm(column, 'amount') && wordsOf(column.path).last.includes('page')
    return isNumber ? [column.path.split('.').at(-1) ?? ''] : []
  })
  for (const name of new Set([...own, ...pageNames])) {
    const ask = async (number: number) => pageOf(await probe(path, { ...limit, [name]: `${number}` }))
    const second = await ask(2)
    if (second === null || !isOther(first, second)) continue
    const firstPage = isSamePage(first, await ask(1)) ? 1 : 0
    if (firstPage === 0 && !isSamePage(first, await ask(0))) continue
    return {
      section: { pages: 'page', ...(firstPage === 0 && { firstPage }) },
      parameter: parameter('page', name),
      proof: `${name}=${firstPage} returned the first records, ${name}=2 others`,
    }
  }
  return null
}

async function byOffset({ probe, path, first, limit }: Paging): Promise<FoundPaging | null> {
  const [, second] = first.listing.records
  for (const name of second === undefined ? [] : offsetNames) {
    const shifted = pageOf(await probe(path, { ...limit, [name]: '1' }))
    if (JSON.stringify(shifted?.listing.records[0]) !== JSON.stringify(second)) continue
    return {
      section: { pages: 'offset' },
      parameter: parameter('offset', name),
      proof: `${name}=1 returned the second record first`,
    }
  }
  return null
}

/** The id of the last record leads to other records. */
async function byLastRecord({ probe, path, first, limit }: Paging): Promise<FoundPaging | null> {
  const { items, records } = first.listing
  for (const { path: id, leaves } of idsOf(records)) {
    const text = leaves.at(-1)?.text ?? ''
    for (const name of lastRecordNames) {
      const next = pageOf(await probe(path, { ...limit, [name]: text }))
      if (next === null || !isOther(first, next)) continue
      const place = `${items === null ? '' : `${items}.`}-1.${id}`
      return {
        section: { pages: 'cursor', next: place },
        parameter: parameter('cursor', name),
        proof: `${name} with the value at ${place} led to other records`,
      }
    }
  }
  return null
}

/** Fields with another value in each record; those that are called an id come first. */
function idsOf(records: readonly unknown[]): SampleColumn[] {
  const isOwn = (column: SampleColumn) => {
    const texts = new Set(saidAt(column).map(({ text }) => text))
    const isNone = (['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))
    return texts.size === records.length && !isNone && hasForm(column, 'token')
  }
  const own = columnsOf(records).filter(isOwn)
  return own.toSorted((one, other) => Number(isCalledId(other)) - Number(isCalledId(one))).slice(0, idsMax)
}

function isCalledId({ path }: SampleColumn): boolean {
  return wordsOf(path).last.some((word) => idWords.includes(word))
}

/** Everything in an answer outside its records. */
function besides({ body, listing }: Page): SampleColumn[] {
  const { items } = listing
  if (items === null) return []
  return columnsOf([body]).filter(({ path }) => !path.startsWith(`${items}.`))
}

function isNext(path: string): boolean {
  return wordsOf(path).last.includes('next') || wordsOf(path).before.includes('next')
}

function isCursor(path: string): boolean {
  const { last } = wordsOf(path)
  return last.some((word) => cursorWords.includes(word))
}

/** Has records, and none of those of the other. */
function isOther(first: Page, next: Page): boolean {
  const known = new Set(first.listing.records.map((record) => JSON.stringify(record)))
  const { records } = next.listing
  return records.length > 0 && records.every((record) => !known.has(JSON.stringify(record)))
}

function isSamePage(first: Page, other: Page | null): boolean {
  const text = (page: Page | null) => JSON.stringify(page?.listing.records)
  return text(first) === text(other)
}

/** A record whose id is at `idPath`. */
type SingleRecord = { idPath: string; record: unknown }

/** The call that reads this record by itself: a path with `{id}`, and where its answer has the record. */
export async function findSingle(
  probe: Probe,
  path: string,
  { idPath, record }: SingleRecord,
): Promise<{ path: string; record?: string } | null> {
  const [id] = columnsOf([record])
    .filter((one) => one.path === idPath)
    .flatMap(saidAt)
  const answer = id === undefined ? null : await probe(`${path}/${encodeURIComponent(id.text)}`)
  if (answer === null) return null
  const holders = ['', ...Object.keys((answer.body as object | null) ?? {})]
  const at = holders.find((holder) => JSON.stringify(valueAt(answer.body, holder)) === JSON.stringify(record))
  return at === undefined ? null : { path: `${path}/{id}`, ...(at !== '' && { record: at }) }
}
