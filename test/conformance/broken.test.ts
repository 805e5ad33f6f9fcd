import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listLimitMax } from '../../src/service/http/pages.ts'
import { type Alteration, startAlteringProxy } from './altering-proxy.ts'
import type { Command } from './commands.ts'
import { startOwnServices } from './own-service.ts'
import { page } from './page.ts'
import type { Subject } from './subject.ts'
import { type Result, testEveryFact } from './suite.ts'
import { waysToBreak } from './ways-to-break.ts'

/** The suite is tested by services that are broken in one way each: what nothing can turn red shows nothing. */

const stack = new AsyncDisposableStack()
let own: Subject
let secure: Subject
const found = new Set<string>()

beforeAll(async () => {
  const { http, https } = await startOwnServices(stack)
  own = http
  secure = https
}, 120_000)
afterAll(() => stack.disposeAsync())

/** The facts that are found broken behind the alteration. */
async function brokenBehind(alteration: Alteration, changes: Partial<Subject>): Promise<string[]> {
  await using proxy = await startAlteringProxy(own.url, alteration)
  return await brokenOf({ ...own, ...changes, url: proxy.url })
}

async function brokenOf(subject: Subject): Promise<string[]> {
  const results = await testEveryFact(subject)
  const broken = results.filter(({ verdict }) => verdict.kind === 'broken')
  // What cannot be reached is broken in everything, and that would show nothing.
  expect(JSON.stringify(broken)).not.toContain('ECONNREFUSED')
  for (const result of broken) found.add(nameOf(result))
  return broken.map(({ says }) => says)
}

function nameOf({ section, says }: Pick<Result, 'section' | 'says'>): string {
  return `${section}: ${says}`
}

test('nothing is broken where nothing is altered', async () => {
  expect(await brokenBehind({}, { commands: {} })).toEqual([])
})

test.each(waysToBreak({ key: 'K', readKey: 'R' }).map(({ that }, place) => ({ that, place })))(
  'a service is found out that $that',
  async ({ place }) => {
    const { alteration, breaks } = waysToBreak(own)[place] ?? { alteration: {}, breaks: 'nothing' }
    expect(await brokenBehind(alteration, { commands: {} })).toContainEqual(expect.stringContaining(breaks))
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
  test('nothing is broken where nothing is altered', async () => {
    expect(await brokenBehind(largePage, { withinMs })).toEqual([])
  })

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
      breaks: 'It receives every deposit as USDC.',
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
    const broken = await brokenBehind({ ...largePage, ...alteration }, { commands, withinMs })
    expect(broken).toContainEqual(expect.stringContaining(breaks))
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
  const broken = await brokenOf({ ...secure, commands: {}, url: `https://127.0.0.1:${port}` })
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
  const facts = page.flatMap(({ name, facts: stated }) =>
    stated.map(({ says }) => nameOf({ section: name, says })),
  )
  expect(facts.filter((fact) => !found.has(fact))).toEqual([
    'What the service does: A StableWallet is a self-custodial wallet.',
  ])
})
