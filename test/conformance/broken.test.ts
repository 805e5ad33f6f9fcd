import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Alteration, startAlteringProxy } from './altering-proxy.ts'
import type { Command } from './commands.ts'
import { startOwnService } from './own-service.ts'
import { page } from './page.ts'
import type { Subject } from './subject.ts'
import { type Result, testEveryFact } from './suite.ts'
import { waysToBreak } from './ways-to-break.ts'

/** The suite is tested by services that are broken in one way each: what nothing can turn red shows nothing. */

const stack = new AsyncDisposableStack()
let own: Subject
const found = new Set<string>()

beforeAll(async () => {
  own = await startOwnService(stack)
}, 120_000)
afterAll(() => stack.disposeAsync())

/** The facts that are found broken behind the alteration. */
async function brokenBehind(alteration: Alteration, changes: Partial<Subject>): Promise<string[]> {
  await using proxy = await startAlteringProxy(own.url, alteration)
  const results = await testEveryFact({ ...own, ...changes, url: proxy.url })
  const broken = results.filter(({ verdict }) => verdict.kind === 'broken')
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

type Lent = { that: string; alteration?: Alteration; pay?: Command; balance?: Command; breaks: string }

const nothing: Command = () => Promise.resolve('0')

const list = (alter: (text: string) => string): Alteration => ({
  answer: (given, { method }) =>
    method === 'GET' && given.status === 200
      ? { status: 200, body: JSON.parse(alter(JSON.stringify(given.body))) as unknown }
      : given,
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
])('a service is found out that $that', { timeout: 60_000 }, async (way) => {
  const commands = {
    pay: way.pay ?? ((...words) => lent('pay', ...words)),
    balance: way.balance ?? ((...words) => lent('balance', ...words)),
  } satisfies Subject['commands']
  const broken = await brokenBehind(way.alteration ?? {}, { commands, withinMs: 8000 })
  expect(broken).toContainEqual(expect.stringContaining(way.breaks))
})

function lent(name: 'pay' | 'balance', ...words: readonly string[]): Promise<string> {
  return own.commands[name]?.(...words) ?? Promise.reject(new Error(`there is no ${name}`))
}

test('every fact that can be looked at was found broken behind some service', () => {
  const facts = page.flatMap(({ name, facts: stated }) =>
    stated.map(({ says }) => nameOf({ section: name, says })),
  )
  expect(facts.filter((fact) => !found.has(fact))).toEqual([
    'What the service does: A StableWallet is a self-custodial wallet.',
    'What the service does: Its balance is available on all networks at the same time.',
    'What the service does: Progress of transfers can be followed through webhooks instead of polling.',
    'What the service does: All calls are made over HTTPS against {base_url}',
    'Events: The service offers webhooks to track a transfer from start to finish without polling.',
  ])
})
