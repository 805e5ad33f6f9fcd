import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import type { PageQuery } from '../http/pages.ts'
import { readRetryAfter } from '../http/retry-after.ts'
import type { StatementPage, StatementQuery, TrialBalancePage, TrialBalanceQuery } from './book-routes.ts'
import type { AssignBody, CommentBody, ResolveBody, SnoozeBody } from './case-routes.ts'
import type { DepositListQuery, WaitQuery } from './deposit-routes.ts'
import type { EventsAnswer, EventsQuery } from './event-routes.ts'
import type { MismatchesQuery } from './mismatch-routes.ts'
import type { ReadProblemCode } from './problem.ts'
import type {
  accountBalance,
  caseAct,
  healthReport,
  journalProof,
  listedDeposit,
  listedMismatch,
  listedNetwork,
  listedService,
  readListSchema,
  readPageSchema,
  shownDeposit,
  shownJournal,
  shownMismatch,
} from './schemas.ts'

export type ApiClientSettings = {
  /** Like `http://127.0.0.1:8088`. */
  url: string
  token: string
  /** Of a call that is refused with 429 or 503 and `Retry-After`; 3 by default. */
  retriesMax?: number
  /** Ends all calls. */
  signal?: AbortSignal
  /** By default that of the platform. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Longer than the longest `wait`. */
const callMaxMs = 90_000
const retryAfterMaxMs = 60_000

type ProblemError = { pointer?: string; parameter?: string; detail: string }

/** A refusal of the API. `code` is `unknown` if the answer is no problem document, as of a proxy. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly code: ReadProblemCode | 'unknown'
  /** The fields and parameters that are wrong. */
  readonly errors: readonly ProblemError[]

  constructor(
    status: number,
    { code, detail, errors = [] }: { code: ApiProblem['code']; detail: string; errors?: ProblemError[] },
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.errors = errors
  }
}

type ItemPage<Item extends z.ZodType> = z.output<ReturnType<typeof readPageSchema<Item>>>
type ItemList<Item extends z.ZodType> = z.output<ReturnType<typeof readListSchema<Item>>>

/** `all` reads page after page. */
export type PagedCall<Query extends PageQuery, Answer extends { data: readonly unknown[] }> = {
  page: (query?: Query) => Promise<Answer>
  all: (query?: Omit<Query, 'cursor'>) => AsyncGenerator<Answer['data'][number], void, undefined>
}

/** Repeated with the same key, a call acts once. By default each has a key of its own, which its retries repeat. */
type WriteOptions = { idempotencyKey?: string }

type AwaitedDeposit = Omit<WaitQuery, 'wait'>

export type ApiClient = ReturnType<typeof createApiClient>

/** Every call of the API. Each throws `ApiProblem` if it is refused. */
export function createApiClient(settings: ApiClientSettings) {
  const calls = createCalls(settings)
  const { get, paged } = calls
  return {
    deposits: depositCalls(calls),
    mismatches: mismatchCalls(calls),
    events: eventCalls(calls),
    journals: {
      get: (id: string) => get<z.output<typeof shownJournal>>(`/v1/journals/${encodeURIComponent(id)}`),
      proof: (id: string) =>
        get<z.output<typeof journalProof>>(`/v1/journals/${encodeURIComponent(id)}/proof`),
    },
    statement: (owner: string) => statementCalls(calls, owner),
    balances: paged<PageQuery, ItemPage<typeof accountBalance>>('/v1/balances'),
    trialBalance: paged<TrialBalanceQuery, TrialBalancePage>('/v1/trial-balance'),
    services: () => get<ItemList<typeof listedService>>('/v1/services'),
    networks: () => get<ItemList<typeof listedNetwork>>('/v1/networks'),
    health: () => get<z.output<typeof healthReport>>('/v1/health'),
    description: () => get<Record<string, unknown>>('/v1/openapi.json'),
  }
}

type ApiCalls = ReturnType<typeof createCalls>

function createCalls(settings: ApiClientSettings) {
  const read = (path: string, query: object = {}, signal?: AbortSignal) =>
    send(settings, { method: 'GET', path: pathWith(path, query), headers: {}, signal })
  const get = async <Answer>(...wanted: Parameters<typeof read>) =>
    (await (await read(...wanted)).json()) as Answer
  return {
    read,
    get,
    paged: <Query extends PageQuery, Answer extends DataPage>(path: string) =>
      pagedCall<Query, Answer>((query) => get<Answer>(path, query)),
    post: async (path: string, body: object, { idempotencyKey = crypto.randomUUID() }: WriteOptions = {}) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }
      const response = await send(settings, { method: 'POST', path, headers, body: JSON.stringify(body) })
      return (await response.json()) as z.output<typeof caseAct>
    },
  }
}

function depositCalls({ get, paged, read }: ApiCalls) {
  const show = (id: string, query: WaitQuery = {}, signal?: AbortSignal) =>
    get<ShownDeposit>(depositPath(id), query, signal)
  return {
    ...paged<DepositListQuery, ItemPage<typeof listedDeposit>>('/v1/deposits'),
    get: show,
    /** Waits until the deposit is in the state, or its owner may be credited. @throws the reason of `signal` */
    until: (id: string, wanted: AwaitedDeposit, signal: AbortSignal) =>
      untilShown((query) => show(id, query, signal), wanted),
    /** The bytes of the bundle, of which its digest is. */
    evidence: async (id: string) => (await read(`${depositPath(id)}/evidence`)).text(),
  }
}

function mismatchCalls({ get, paged, post }: ApiCalls) {
  return {
    ...paged<MismatchesQuery, ItemPage<typeof listedMismatch>>('/v1/mismatches'),
    get: (id: string) => get<z.output<typeof shownMismatch>>(mismatchPath(id)),
    comment: (id: string, body: CommentBody, options?: WriteOptions) =>
      post(`${mismatchPath(id)}/comments`, body, options),
    assign: (id: string, body: AssignBody, options?: WriteOptions) =>
      post(`${mismatchPath(id)}/assign`, body, options),
    snooze: (id: string, body: SnoozeBody, options?: WriteOptions) =>
      post(`${mismatchPath(id)}/snooze`, body, options),
    resolve: (id: string, body: ResolveBody, options?: WriteOptions) =>
      post(`${mismatchPath(id)}/resolve`, body, options),
  }
}

function eventCalls({ get }: ApiCalls) {
  const page = (query: EventsQuery = {}, signal?: AbortSignal) =>
    get<EventsAnswer>('/v1/events', query, signal)
  return {
    page,
    /** From `after` on, and then each as it comes. @throws the reason of `signal` */
    async *follow({ after, ...filter }: Omit<EventsQuery, 'wait'>, signal: AbortSignal) {
      for (let next = after; ; ) {
        const answer = await page(
          { ...filter, wait: '60s', ...(next !== undefined && { after: next }) },
          signal,
        )
        yield* answer.data
        next = answer.next
      }
    },
  }
}

/** All pages end at one time: an end that moves would be listed in each of them. */
function statementCalls({ paged }: ApiCalls, owner: string): PagedCall<StatementQuery, StatementPage> {
  const path = `/v1/owners/${encodeURIComponent(owner)}/statement`
  const { page, all } = paged<StatementQuery, StatementPage>(path)
  return { page, all: (query) => all({ ...query, until: query?.until ?? new Date().toISOString() }) }
}

function depositPath(id: string): string {
  return `/v1/deposits/${encodeURIComponent(id)}`
}

function mismatchPath(id: string): string {
  return `/v1/mismatches/${encodeURIComponent(id)}`
}

type DataPage = { data: readonly unknown[]; next_cursor: string | null }

function pagedCall<Query extends PageQuery, Answer extends DataPage>(
  page: (query?: Query) => Promise<Answer>,
): PagedCall<Query, Answer> {
  return {
    page,
    async *all(query) {
      let cursor: string | null = null
      do {
        const answer = await page({ ...query, ...(cursor !== null && { cursor }) } as Query)
        yield* answer.data
        cursor = answer.next_cursor
      } while (cursor !== null)
    },
  }
}

type ShownDeposit = z.output<typeof shownDeposit>

async function untilShown(
  show: (query: WaitQuery) => Promise<ShownDeposit>,
  wanted: AwaitedDeposit,
): Promise<ShownDeposit> {
  for (;;) {
    const shown = await show({ ...wanted, wait: '60s' })
    const isInState = wanted.state === undefined || shown.state === wanted.state
    if (isInState && (wanted.credit === undefined || shown.credit.safe)) return shown
  }
}

function pathWith(path: string, query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`
}

type SentCall = {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
}

/** @throws ApiProblem */
async function send(settings: ApiClientSettings, call: SentCall): Promise<Response> {
  const { url, token, retriesMax = 3, fetch: request = fetch } = settings
  const { path, signal: own, ...init } = call
  const ends = [settings.signal, own].filter((signal) => signal !== undefined)
  const headers = { ...init.headers, authorization: `Bearer ${token}` }
  for (let retries = 0; ; retries++) {
    const signal = AbortSignal.any([...ends, AbortSignal.timeout(callMaxMs)])
    const response = await request(url.replace(/\/$/, '') + path, { ...init, headers, signal })
    if (response.ok) return response
    const problem = await problemOf(response)
    const waitMs = retryWait(response)
    if (waitMs === null || retries >= retriesMax) throw problem
    await sleep(waitMs, undefined, { signal: AbortSignal.any(ends) })
  }
}

/** Null if the call must not be repeated. */
function retryWait({ status, headers }: Response): number | null {
  if (status !== 429 && status !== 503) return null
  const waitMs = readRetryAfter(headers.get('retry-after'), new Date())
  return waitMs === null || waitMs > retryAfterMaxMs ? null : waitMs
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const text = await response.text()
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true
  const unknown = { code: 'unknown' as const, detail: text.slice(0, 500) }
  return new ApiProblem(response.status, isProblem ? JSON.parse(text) : unknown)
}
