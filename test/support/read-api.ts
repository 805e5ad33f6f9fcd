import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { readApiDescription, readRoutes } from '../../src/api/routes.ts'
import { callOf } from '../../src/api/server.ts'
import { composeApi } from '../../src/app/api.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { createMetrics, type Metrics } from '../../src/ops/metrics.ts'
import { createObserver } from '../../src/ops/observe.ts'
import { tokenScopes } from '../../src/people/roles.ts'
import { type ApiToken, createApiToken } from '../../src/store/api-tokens.ts'
import { inTransaction } from '../../src/store/database.ts'
import { numberEvents } from '../../src/store/events.ts'
import { saveOwner } from '../../src/store/owners.ts'
import type { Books } from './books.ts'
import { contractOf } from './contract.ts'
import { arbitrum, at, base, payment, recipient, txId, walletAddress } from './evidence.ts'
import { openExampleBooks } from './example-books.ts'
import { judgingEnvironment } from './judging-environment.ts'
import { acmeAddress, ofAcme } from './two-services.ts'

const withoutCall = ['token_missing', 'token_unknown', 'rate_limited', 'not_found', 'method_not_allowed']
const checkExchange = contractOf(readApiDescription, withoutCall)

/** `body` is what JSON said, which the published description holds. */
// oxlint-disable-next-line typescript/no-explicit-any
export type ReadAnswer = { status: number; headers: Headers; text: string; body: any }

type ReadRequest = { method?: string; headers?: Readonly<Record<string, string>>; body?: unknown }

type Caller = (path: string, token?: string | null, init?: ReadRequest) => Promise<ReadAnswer>

export type ReadClient = {
  url: string
  metrics: Metrics
  /** A token with every scope, with these changes. */
  token: (changes?: Partial<ApiToken>) => Promise<string>
  /** Every answer is held to the published description, and no error is internal. */
  get: Caller
  post: (path: string, body: unknown, init?: ReadRequest & { token?: string }) => Promise<ReadAnswer>
  stop: () => Promise<void>
}

type ReadClientOptions = {
  environment?: Readonly<Record<string, string>>
  limit?: { perSecond: number; burst: number }
}

/** The read API of these books, as a daemon composes it. */
export async function serveReadApi(
  { owner, url: databaseUrl }: Pick<Books, 'owner' | 'url'>,
  within: AsyncDisposableStack,
  { environment = judgingEnvironment(databaseUrl), limit }: ReadClientOptions = {},
): Promise<ReadClient> {
  const failures: unknown[] = []
  const metrics = createMetrics('test', { call: readRoutes.map(callOf) })
  const { api: observer } = createObserver(metrics, pino({ level: 'silent' }))
  const settings = {
    ...parseSettings(environment, (path) => readFileSync(path, 'utf8')),
    api: { host: '127.0.0.1', port: 0 },
  }
  const served = await composeApi(settings, {
    version: 'test',
    services: { followed: () => settings },
    readiness: { checks: [], isNeeded: () => true },
    observer: { api: { ...observer, failed: (_path, error) => failures.push(error) } },
    limit,
  })
  if (served === null) throw new Error('the settings name a port')
  within.defer(served.stop)
  const token = async (changes: Partial<ApiToken> = {}) => {
    const wanted = {
      name: `account-${randomUUID()}`,
      scopes: tokenScopes,
      services: null,
      owners: null,
      ...changes,
    }
    const made = await inTransaction(owner, (tx) => createApiToken(tx, { ...wanted, by: 'erin' }))
    return made.token
  }
  const whole = await token()
  const get = caller(served.url, whole, failures)
  const post: ReadClient['post'] = (path, body, { token: as, ...init } = {}) =>
    get(path, as, { method: 'POST', body, ...init })
  return { url: served.url, metrics, token, get, post, stop: served.stop }
}

function caller(url: string, whole: string, failures: readonly unknown[]): Caller {
  return async (path, token = whole, { headers, body: given, ...init } = {}) => {
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
    const content = given === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(url + path, {
      ...init,
      ...(given !== undefined && { body: JSON.stringify(given) }),
      headers: { ...authorization, ...content, ...headers },
    })
    const text = await response.text()
    if (failures.length > 0) throw new Error(`${path} failed`, { cause: failures[0] })
    const answer = { status: response.status, headers: response.headers, text }
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const method = init.method ?? 'GET'
    checkExchange({ method, url: url + path, sent: given, ...answer, answer: body })
    return { ...answer, body }
  }
}

/** The example books with a deposit of a second service, and one transaction that paid two owners. Events have their numbers. */
export async function openReadBooks(): Promise<Books> {
  const books = await openExampleBooks()
  await saveOwner(books.db, {
    owner: ofAcme.owner,
    deposits: [{ network: base, address: acmeAddress }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  })
  const times = { blockAt: at(600), receivedAt: at(602) }
  const shared = { ...times, tx: txId('pays two') }
  await books.receive(
    payment({ ...times, tx: txId('pays acme'), to: acmeAddress }),
    payment({ ...shared, index: '0' }),
    payment({ ...shared, index: '1', to: walletAddress }),
  )
  await books.settle()
  await numberEvents(books.db)
  return books
}
