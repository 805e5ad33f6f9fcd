import { columnsOf, hasForm, type SampleColumn, saidAt, valueAt, wordsOf } from '../infer/columns.ts'
import type { RecordListing, Section } from '../infer/find-records.ts'
import type { FoundCall } from './find-calls.ts'
import type { Probe, ProbedAnswer } from './probe.ts'

export type ProofNote = { path: readonly string[]; isProved: boolean; text: string }

/** The section `list` of a profile, with what shows each line of it. */
export type FoundList = { section: Section; notes: readonly ProofNote[] }

const limitNames = [
  'limit',
  'page_size',
  'pageSize',
  'per_page',
  'perPage',
  'size',
  'count',
  'take',
  'first',
  'max',
  'rows',
  'max_results',
  'maxResults',
]
const pageNames = ['page', 'pageNumber', 'page_number', 'pageNo', 'page_no', 'pageIndex', 'page_index', 'p']
const offsetNames = ['offset', 'skip', 'start', 'startIndex', 'start_index', 'from']
const cursorNames = [
  'cursor',
  'after',
  'page_token',
  'pageToken',
  'next',
  'next_cursor',
  'nextCursor',
  'continuation',
  'continuationToken',
  'token',
  'marker',
  'starting_after',
]
const cursorWords = ['cursor', 'next', 'token', 'continuation', 'marker', 'after']

/** With fewer records, one page cannot be told from the next. */
export const recordsMin = 4
const limitUsual = 100

type Paging = { probe: Probe; path: string; first: Page; limit: Readonly<Record<string, string>> }
type Page = ProbedAnswer & { listing: RecordListing }
type FoundPaging = { section: Section; proof: string }

/** Asks for small pages, and compares the records of one with those of the next. */
export async function findPaging(probe: Probe, { path, answer }: FoundCall): Promise<FoundList> {
  const whole = answer as Page
  const { items, records } = whole.listing
  const base = { path, items }
  if (records.length < recordsMin) {
    const text = `the list has ${records.length} records, too few to try its pages: at least ${recordsMin} are needed`
    return { section: base, notes: [{ path: ['list', 'pages'], isProved: false, text }] }
  }
  const limit = await findLimit(probe, path, whole)
  const limited = limit === null ? {} : { [limit.name]: '2' }
  const first = limit?.page ?? whole
  const paging = await findPages({ probe, path, first, limit: limited })
  const notes: ProofNote[] = [
    limit === null
      ? unsure(['list', 'limit'], 'no known parameter changes the size of a page')
      : proved(['list', 'limit'], `${limit.name}=2 returned 2 records`),
    paging === null
      ? unsure(['list', 'pages'], 'no known parameter and no link leads to further records')
      : proved(['list', 'pages'], paging.proof),
  ]
  const parameters = {
    ...(limit !== null && limit.name !== 'limit' && { limit: limit.name }),
    ...(paging?.section.parameters as Section | undefined),
  }
  const size = limit === null ? null : await largestPage(probe, path, limit.name)
  return {
    section: {
      ...base,
      ...paging?.section,
      ...(size !== null && size !== limitUsual && { limit: size }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    },
    notes,
  }
}

function proved(path: readonly string[], text: string): ProofNote {
  return { path, isProved: true, text }
}

function unsure(path: readonly string[], text: string): ProofNote {
  return { path, isProved: false, text }
}

async function findLimit(
  probe: Probe,
  path: string,
  whole: Page,
): Promise<{ name: string; page: Page } | null> {
  for (const name of limitNames) {
    const page = pageOf(await probe(path, { [name]: '2' }))
    if (page?.listing.records.length === 2 && whole.listing.records.length > 2) return { name, page }
  }
  return null
}

/** A service may refuse a size that it does not offer. */
async function largestPage(probe: Probe, path: string, name: string): Promise<number> {
  for (const size of [limitUsual, 50, 25, 10])
    if (pageOf(await probe(path, { [name]: `${size}` })) !== null) return size
  return 10
}

function pageOf(answer: ProbedAnswer | null): Page | null {
  return answer !== null && answer.listing !== null ? { ...answer, listing: answer.listing } : null
}

async function findPages(paging: Paging): Promise<FoundPaging | null> {
  for (const find of [byLink, byCursor, byNumber, byOffset]) {
    const found = await find(paging)
    if (found !== null) return found
  }
  return null
}

async function byLink({ probe, first }: Paging): Promise<FoundPaging | null> {
  const header = /<([^>]*)>[^,]*rel="?next/.exec(first.link ?? '')?.[1] ?? null
  const inBody = besides(first).find(
    ({ path, leaves }) => isNext(path) && /^(?:https?:\/)?\/\S+$/.test(leaves[0]?.text ?? ''),
  )
  const target = header ?? inBody?.leaves[0]?.text ?? null
  if (target === null) return null
  const { pathname, search } = new URL(target, 'http://service')
  const next = pageOf(await probe(relativeTo(first.path, pathname) + search))
  if (next === null || !isOther(first, next)) return null
  const where = header === null ? `the link at ${inBody?.path}` : 'the header Link'
  return {
    section: { pages: 'link', ...(header === null && { next: inBody?.path }) },
    proof: `${where} led to other records`,
  }
}

/** A link is absolute, but a path is relative to the address of the service. */
function relativeTo(path: string, pathname: string): string {
  const own = path.replace(/\?.*/, '')
  return pathname.endsWith(own) ? own : pathname
}

async function byCursor({ probe, path, first, limit }: Paging): Promise<FoundPaging | null> {
  for (const { path: place, leaves } of besides(first).filter((one) => isCursor(one.path))) {
    const text = leaves[0]?.text ?? ''
    if (text === '' || leaves[0]?.kind === 'boolean') continue
    const last = place.split('.').at(-1) ?? ''
    const own = [last, last.replace(/^next[_-]?/i, '')].map((name) => name.replace(/^[A-Z]/, lower))
    for (const name of new Set([...own.filter((one) => one !== ''), ...cursorNames])) {
      const next = pageOf(await probe(path, { ...limit, [name]: text }))
      if (next === null || !isOther(first, next)) continue
      return {
        section: { pages: 'cursor', next: place, ...(name !== 'cursor' && { parameters: { cursor: name } }) },
        proof: `${name} with the value at ${place} led to other records`,
      }
    }
  }
  return null
}

function lower(letter: string): string {
  return letter.toLowerCase()
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
      section: {
        pages: 'page',
        ...(firstPage === 0 && { firstPage }),
        ...(name !== 'page' && { parameters: { page: name } }),
      },
      proof: `${name}=${firstPage} returned the first records, ${name}=2 others`,
    }
  }
  return null
}

async function byOffset({ probe, path, first, limit }: Paging): Promise<FoundPaging | null> {
  for (const name of offsetNames) {
    const shifted = pageOf(await probe(path, { ...limit, [name]: '1' }))
    if (shifted === null || first.listing.records.length < 2) continue
    const [, second] = first.listing.records
    if (JSON.stringify(shifted.listing.records[0]) !== JSON.stringify(second)) continue
    return {
      section: { pages: 'offset', ...(name !== 'offset' && { parameters: { offset: name } }) },
      proof: `${name}=1 returned the second record first`,
    }
  }
  return null
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

/** Of the record with this id, by itself: a path with `{id}`, and where the answer has the record. */
export async function findSingle(
  probe: Probe,
  path: string,
  idPath: string,
  record: unknown,
): Promise<{ path: string; record?: string } | null> {
  const id = saidAt({
    path: idPath,
    leaves: columnsOf([record]).find((one) => one.path === idPath)?.leaves ?? [],
  })
  const text = id[0]?.text
  if (text === undefined) return null
  const answer = await probe(`${path}/${encodeURIComponent(text)}`)
  if (answer === null) return null
  const holders = ['', ...Object.keys((answer.body as object | null) ?? {})]
  const at = holders.find((holder) => JSON.stringify(valueAt(answer.body, holder)) === JSON.stringify(record))
  return at === undefined ? null : { path: `${path}/{id}`, ...(at !== '' && { record: at }) }
}
