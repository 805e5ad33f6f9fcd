import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listLimitMax } from '../../src/http/pages.ts'
import { type Alteration, startAlteringProxy } from './altering-proxy.ts'
import type { Command } from './commands.ts'
import { startOwnServices } from './own-service.ts'
import { page } from './page.ts'
import type { Subject } from './subject.ts'
import { type Result, testFacts, type Verdict } from './suite.ts'
import { waysToBreak } from './ways-to-break.ts'

/**
 * Every fact holds of the service of this project. Then the suite is tested by services that are broken in one way each:
 * what nothing can turn red shows nothing.
 */

const stack = new AsyncDisposableStack()
let own: Subject
let secure: Subject
let results: Record<'http' | 'https', Result[]>
const facts = page.flatMap(({ name, facts: stated }) => stated.map(({ says }) => ({ section: name, says })))
const found = new Set<string>()

/** Unaltered, it shows that the proxy alone breaks nothing. */
async function testBehindProxy(): Promise<Result[]> {
  await using proxy = await startAlteringProxy(own.url, {})
  return await testFacts({ ...own, url: proxy.url })
}

function expectBroken({ broken, holding }: Record<'broken' | 'holding', string[]>): void {
  expect(holding).toEqual([])
  expect(broken).not.toEqual([])
}

beforeAll(async () => {
  const { http, https } = await startOwnServices(stack)
  own = http
  secure = https
  const [inClear, overTls] = await Promise.all([testBehindProxy(), testFacts(https)])
  results = { http: inClear, https: overTls }
}, 180_000)
afterAll(() => stack.disposeAsync())

/** What is found behind the alteration, of the facts that have the words `among`. */
async function verdictsBehind(
  alteration: Alteration,
  changes: Partial<Subject>,
  among = '',
): Promise<Record<'broken' | 'holding', string[]>> {
  await using proxy = await startAlteringProxy(own.url, alteration)
  return await verdictsOf({ ...own, ...changes, url: proxy.url }, among)
}

async function verdictsOf(subject: Subject, among = '') {
  const tested = await testFacts(subject, ({ says }) => says.includes(among))
  const [broken, holding] = (['broken', 'holds'] as const).map((kind) =>
    tested.filter(({ verdict }) => verdict.kind === kind).map(nameOf),
  )
  // What cannot be reached is broken in everything, and that would show nothing.
  expect(JSON.stringify(tested)).not.toContain('ECONNREFUSED')
  for (const name of broken ?? []) found.add(name)
  return { broken: broken ?? [], holding: holding ?? [] }
}

function nameOf({ section, says }: Pick<Result, 'section' | 'says'>): string {
  return `${section}: ${says}`
}

test.each(facts)('$section: $says', ({ section, says }) => {
  expect(verdictOf('https', section, says)).toEqual(unseen.get(says) ?? holds)
})

test('in the clear everything holds just so, but that all calls are made over HTTPS', () => {
  for (const { section, says } of facts) {
    const expected = says === overHttps ? notChecked('needs a --url that begins with https://') : null
    expect(verdictOf('http', section, says), says).toEqual(expected ?? unseen.get(says) ?? holds)
  }
})

function verdictOf(scheme: 'http' | 'https', section: string, says: string): Verdict | undefined {
  return results[scheme].find((one) => one.section === section && one.says === says)?.verdict
}

const overHttps = 'All calls are made over HTTPS against {base_url}'
const holds = { kind: 'holds' }
const notChecked = (reason: string) => ({ kind: 'not checked', reason })

/** What cannot be looked at, and why. */
const unseen = new Map([
  ['A StableWallet is a self-custodial wallet.', notChecked('who holds the keys cannot be seen by calls')],
])

test.each(waysToBreak({ key: 'K', readKey: 'R' }).map(({ that }, place) => ({ that, place })))(
  'a service is found out that $that',
  async ({ place }) => {
    const { alteration, breaks } = waysToBreak(own)[place] ?? { alteration: {}, breaks: 'nothing' }
    expectBroken(await verdictsBehind(alteration, { commands: {} }, breaks))
  },
)

type Lent = { that: string; alteration?: Alteration; breaks: string } & Subject['commands']

const nothing: Command = () => Promise.resolve('0')

const list = (alter: (text: string) => string): Alteration => ({
  answer: (given, { method }) =>
    method === 'GET' && given.status === 200
      ? { status: 200, body: JSON.parse(alter(JSON.stringify(given.body))) as unknown }
      : given,
})

/** Enough for all that is awaited from a service that is well: nothing may look broken because it is slow. */
const withinMs = 20_000

/** The suite reads one page of the list: what the others pay at the same time must not push its deposits off that. */
const largePage: Alteration = {
  request: (seen) =>
    seen.path === '/v1/proxies/deposits' ? { ...seen, path: `${seen.path}?limit=${listLimitMax}` } : seen,
}

// Beside each other: most of it is waiting for what does not come.
describe.concurrent('with payments', () => {
  test.each<Lent>([
    {
      that: 'forwards nothing',
      balance: nothing,
      breaks: 'The service moves tokens between blockchain networks',
    },
    {
      that: 'forwards from mainnet only',
      pay: (network = '', ...words) => (network === 'mainnet' ? lent('pay', network, ...words) : nothing()),
      breaks: 'Behavior: deposits to any returned address',
    },
    {
      that: 'forwards USDC only',
      pay: (network = '', asset = '', ...words) =>
        asset === 'USDC' ? lent('pay', network, asset, ...words) : nothing(),
      breaks: 'Tokens sent to any of those addresses are converted and forwarded',
    },
    {
      that: 'receives what was paid as it was paid',
      alteration: list((text) => text.replaceAll('USDC', 'ETH')),
      breaks: 'as USDC',
    },
    {
      that: 'lists no deposit',
      alteration: list(() => '{"data":[]}'),
      breaks: 'A collection of deposits is readable at the endpoint',
    },
    {
      that: 'hides deposits from readers',
      alteration: {
        answer: (given, seen) =>
          seen.key === own.readKey ? { status: given.status, body: { data: [] } } : given,
      },
      breaks: 'read | Reading all data.',
    },
    { that: 'forwards in spite of a policy', hold: nothing, breaks: 'The channel does this unless a policy' },
    {
      that: 'pays withdrawals on one network only',
      withdraw: (wallet = '', network = '', ...words) =>
        network === 'base' ? lent('withdraw', wallet, network, ...words) : nothing(),
      breaks: 'Its balance is available on all networks at the same time.',
    },
    { that: 'sends no webhooks', webhook: nothing, breaks: 'Progress of transfers can be followed' },
    {
      that: 'tells of the finish alone',
      webhook: (url = '') => registerFor(url, ['deposit.settled']),
      breaks: 'The service offers webhooks to track a transfer from start to finish',
    },
  ])('a service is found out that $that', async ({ that: _that, alteration, breaks, ...lies }) => {
    const commands = { ...own.commands, ...lies }
    expectBroken(await verdictsBehind({ ...largePage, ...alteration }, { commands, withinMs }, breaks))
  })
})

async function registerFor(url: string, types: string[]): Promise<string> {
  const headers = { 'X-API-KEY': own.key, 'content-type': 'application/json' }
  const body = JSON.stringify({ url, types })
  return (await fetch(`${own.url}/v1/webhook-endpoints`, { method: 'POST', headers, body })).text()
}

test('a service is found out that serves in the clear what it serves over TLS', async () => {
  const server = createServer((socket) => serveBoth(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0
  const { broken } = await verdictsOf({ ...secure, commands: {}, url: `https://127.0.0.1:${port}` })
  server.close()
  expect(broken).toEqual([expect.stringContaining('All calls are made over HTTPS')])
})

/** A TLS connection begins with the byte 22. */
function serveBoth(socket: Socket): void {
  socket.once('data', (first) => {
    if (first[0] !== 22) return socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    const behind = connect({ host: '127.0.0.1', port: Number(new URL(secure.url).port) })
    behind.write(first)
    return socket.pipe(behind).pipe(socket)
  })
}

function lent(name: 'pay' | 'withdraw', ...words: readonly string[]): Promise<string> {
  return own.commands[name]?.(...words) ?? Promise.reject(new Error(`there is no ${name}`))
}

test('every fact that can be looked at was found broken behind some service', () => {
  expect(facts.map(nameOf).filter((fact) => !found.has(fact))).toEqual([
    'What the service does: A StableWallet is a self-custodial wallet.',
  ])
})
