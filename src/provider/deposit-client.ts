import { messageOf } from '../core/errors.ts'
import { idAmongServices, idAtService, type ServiceName } from '../core/evidence.ts'
import { digitsOf } from './lossless-json.ts'
import { createPaging, type NextPage, type PageMark, type RecordHead } from './paging.ts'
import { compileTime } from './profile/compile-value.ts'
import { compileField, compilePath, type RecordContext, Unreadable } from './profile/find-field.ts'
import type { ListProfile, Profile } from './profile/profile-schema.ts'
import { failure, type HttpRequest, type ServiceAnswer, type ServiceCall } from './service-call.ts'

export type DepositPage = {
  records: readonly PolledRecord[]
  /** Null after the last page. */
  next: NextPage | null
}

export type DepositClient = {
  service: ServiceName
  list: ListProfile
  /**
   * `since` restricts to records created or updated from then on, if the service supports it. Null if the
   * service no longer accepts the mark.
   */
  listDeposits: (place: { mark: PageMark; since: Date | null }) => Promise<DepositPage | null>
  /** Null if the service does not have the record. Called only if `list.one` is set. */
  readDeposit: (id: string) => Promise<PolledRecord | null>
}

/** A deposit service that can be called. */
export type Service = { name: ServiceName; url: string; call: ServiceCall }

/** Ids are unique among services. Every call throws Fault `remote_failed` if its answer cannot be used. */
export function createDepositClient(service: Service, profile: DepositsProfile): DepositClient {
  const { list } = profile
  const readHead = compileRecordHead(profile, service.name)
  return {
    service: service.name,
    list,
    listDeposits: pageReader(service, list, readHead),
    readDeposit: singleReader(service, list, readHead),
  }
}

type ReadHead = (value: unknown) => PolledRecord

function pageReader(
  { url, call }: Service,
  list: ListProfile,
  readHead: ReadHead,
): DepositClient['listDeposits'] {
  const paging = createPaging(list)
  const findItems = lookUp(list.items)
  const findCursor = lookUp(list.next)
  return async ({ mark, since }) => {
    const request = { method: 'GET' as const, path: pathOf(list, mark, paging.query(mark, since)) }
    const answer = await call(request)
    if (isPastTheEnd(list, mark, answer)) return { records: [], next: null }
    if (isMarkRefused(mark, answer)) return null
    return understood(request, answer, ({ body, link }) => {
      const items = findItems(body)
      if (!Array.isArray(items))
        throw new Error(`unexpected answer at ${list.items ?? 'the top'}: is no list, but ${kindOf(items)}`)
      const records = items.map(readHead)
      const cursor = cursorText(findCursor(body))
      const places = { cursor, link: list.pages === 'link' ? nextLink(link, cursor, url) : null }
      return { records, next: paging.next({ mark, heads: records, ...places }) }
    })
  }
}

function singleReader(
  { call }: Service,
  { one }: ListProfile,
  readHead: ReadHead,
): DepositClient['readDeposit'] {
  const find = lookUp(one?.record ?? null)
  return async (id) => {
    const own = idAtService(id)
    // In a path these two change the location, however they are encoded.
    if (own === '.' || own === '..') return null
    const path = (one?.path ?? '').replaceAll('{id}', () => encodeURIComponent(own))
    const request = { method: 'GET' as const, path }
    const answer = await call(request)
    if (answer.kind === 'refused' && (answer.status === 404 || answer.status === 410)) return null
    return understood(request, answer, ({ body }) => {
      const record = readHead(find(body))
      if (record.id !== id) throw new Error(`the answer is the record ${record.id ?? 'without an id'}`)
      return record
    })
  }
}

/** Some services answer 404 for a page after the last; others send an empty page. */
function isPastTheEnd({ pages }: ListProfile, mark: PageMark, answer: ServiceAnswer): boolean {
  const isCounted = pages === 'page' || pages === 'offset'
  return isCounted && mark !== null && answer.kind === 'refused' && answer.status === 404
}

/** For example an expired cursor. A refused key says nothing about the mark. */
function isMarkRefused(mark: PageMark, answer: ServiceAnswer): boolean {
  return mark !== null && answer.kind === 'refused' && !isKeyRefused(answer)
}

function isKeyRefused({ status }: Extract<ServiceAnswer, { kind: 'refused' }>): boolean {
  return status === 401 || status === 403
}

/** @throws Fault `remote_failed` that names the call */
export function understood<Value>(
  request: HttpRequest,
  answer: ServiceAnswer,
  read: (answer: Extract<ServiceAnswer, { kind: 'answered' }>) => Value,
): Value {
  if (answer.kind === 'refused') {
    // A 404 means that the path in the profile is wrong.
    const help = answer.status === 404 && { help: mappingPage }
    throw failure(request, answer.problem, { ...help, isLasting: !isKeyRefused(answer) })
  }
  try {
    return read(answer)
  } catch (error) {
    throw failure(request, messageOf(error), { help: mappingPage, isLasting: true })
  }
}

const mappingPage = 'docs/mapping.md'

const keysShown = 10

/** Shows only names of the content. */
function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value !== 'object') return `a ${typeof value}`
  const keys = Object.keys(value).slice(0, keysShown)
  return `an object with ${keys.length === 0 ? 'nothing in it' : keys.join(', ')}`
}

function pathOf(list: ListProfile, mark: PageMark, query: Record<string, string>): string {
  // A link contains the complete query of the next page.
  if (list.pages === 'link' && mark !== null) return mark
  const limit = { [list.parameters.limit]: `${list.limit}` }
  return `${list.path}?${new URLSearchParams({ ...list.query, ...limit, ...query }).toString()}`
}

function lookUp(path: string | null): (body: unknown) => unknown {
  if (path === null) return (body) => body
  const find = compilePath(path)
  return (body) => find(body, body)
}

/**
 * Null if missing, null or an empty text.
 * @throws Error if the value is not a cursor
 */
function cursorText(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  const text = typeof value === 'string' ? value : digitsOf(value)
  if (text === null) throw new Error('the cursor of the next page is neither text nor a number')
  return text
}

/**
 * The path and query, relative to `base`, of the link in a `Link` header (RFC 8288) or else in the answer; null if
 * there is no next page.
 * @throws Error if the link leads to another location: the key must not be sent there
 */
export function nextLink(header: string | null, inBody: string | null, base: string): string | null {
  const target = targetOf(header ?? '') ?? inBody
  if (target === null) return null
  const own = new URL(base.replace(/\/*$/, '/'))
  const next = URL.canParse(target, own.href) ? new URL(target, own.href) : null
  if (next === null || next.origin !== own.origin || !next.pathname.startsWith(own.pathname))
    throw new Error('the link to the next page leads away from the address of the service')
  return next.pathname.slice(own.pathname.length - 1) + next.search
}

function targetOf(header: string): string | null {
  for (const [, target = '', parameters = ''] of header.matchAll(/<([^>]*)>((?:\s*;[^,<]*)*)/g)) {
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\s*(?:;|$))/i.test(parameters)) return target
  }
  return null
}

/** `text` has numbers digit for digit as sent. */
type PolledRecord = RecordHead & { text: string }

type DepositsProfile = { list: ListProfile; record: Pick<Profile['record'], 'id' | 'createdAt'> }

/** What the daemon reads of a listed record to page through the list. */
export function compileRecordHead(
  { list, record }: DepositsProfile,
  service: ServiceName,
): (value: unknown) => PolledRecord {
  const findId = compileField(record.id, '')
  const readTime = compileTime(list.time ?? record.createdAt, '')
  return (value) => {
    const place = { record: value, payload: value }
    const own = readable(place, (one) => findId(one)?.text ?? null)
    const id = own === null ? null : idAmongServices(service, own)
    return { id, time: readable(place, readTime), text: JSON.stringify(value) }
  }
}

/** The claim reader reports problems once the record is applied. */
function readable<Value>(place: RecordContext, read: (place: RecordContext) => Value | null): Value | null {
  try {
    return read(place)
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}
