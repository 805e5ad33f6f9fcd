import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MismatchKind } from '../../src/core/mismatch.ts'
import { brokenInvariants } from '../support/facts-of-world.ts'
import { runDecided } from '../support/people.ts'
import { isGoodInTheEnd, lateKinds, shownOf } from '../support/reported-faults.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 120_000

/** What the company does not accept, and the service of itself does not either: it holds what is paid to the shop. */
const routes = [
  { match: { asset: { in: 'base/USDC' } }, minimum: '1' },
  { match: { asset: { in: 'base/USDT' } }, supported: false },
]
const held = {
  minimum_amounts: [{ network: 'base', asset: 'USDC', amount: '1000000' }],
  assets: { deny: [{ network: 'base', asset: 'USDT' }] },
}
const deadlines = { webhookWithin: '8s', apiWithin: '8s', reportWithin: '8s', settlementWithin: '8s' }

const stack = new AsyncDisposableStack()
let world: World

type Paid = { kind: MismatchKind; tx: string }

/** One for each way in which it ends. */
const ways = ['release', 'refund', 'person'] as const
const rows: { kind: MismatchKind; symbol: string; amounts: Record<(typeof ways)[number], string> }[] = [
  {
    kind: 'below_minimum',
    symbol: 'USDC',
    amounts: { release: '0.999999', refund: '0.5', person: '0.000001' },
  },
  { kind: 'unsupported_token', symbol: 'USDT', amounts: { release: '30', refund: '40', person: '50' } },
]
const paid: Record<(typeof ways)[number], Paid[]> = { release: [], refund: [], person: [] }
/** Accepted by both, or taken by the service all the same. */
const others = [
  { what: 'the least that is accepted', owner: 'shop', symbol: 'USDC', amount: '1' },
  { what: 'less than that, which the service credits', owner: 'savings', symbol: 'USDC', amount: '0.25' },
  { what: 'what is not supported, which the service credits', owner: 'savings', symbol: 'USDT', amount: '2' },
]
let otherTxs: string[]

beforeAll(async () => {
  world = await startWorld({ networks: ['base'], policy: { ...deadlines, routes } }, stack)
  await callService('PUT', '/v1/channels/shop/policy', held)
  for (const { kind, symbol, amounts } of rows) {
    for (const way of ways) {
      const payment = { network: 'base', symbol, owner: 'shop', amount: amounts[way] }
      paid[way].push({ kind, tx: await world.pay(payment) })
    }
  }
  otherTxs = await Promise.all(others.map((payment) => world.pay({ network: 'base', ...payment })))
  const all = Object.values(paid).flat()
  // What is not reached is told by the tests.
  await until('everything is told', () => areHeld(all), withinMs).catch(() => null)
}, withinMs + 60_000)
afterAll(() => stack.disposeAsync())

async function callService(method: string, path: string, body?: object): Promise<void> {
  const { url, auth } = world.settings.services[0]
  const headers = { ...auth.headers, 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
}

/** An address of ours that is watched for deliveries: what goes back there is none. */
function recipientOfShop(): string {
  const shop = world.owners.find(({ owner }) => owner.id === 'shop')
  if (!shop?.forward) throw new Error('the shop forwards')
  return shop.forward.recipient
}

async function areHeld(all: readonly Paid[]): Promise<true | null> {
  const shown = await Promise.all(all.map(({ tx }) => shownOf(world.db, tx)))
  return (shown.every((one) => one?.deposit.state === 'held') && (await isNothingDue())) || null
}

/** Nothing waits to be applied or for a deadline. */
async function isNothingDue(): Promise<boolean> {
  const { rows: found } = await sql<{ waiting: boolean }>`
    select exists (select from inbox_pending)
      or exists (select from evidence_group where recheck_at is not null) as waiting`.execute(world.db)
  return found[0]?.waiting === false
}

/** But for what was late, and came. */
async function kindsOf(tx: string): Promise<string[]> {
  const shown = await shownOf(world.db, tx)
  return (shown?.mismatches ?? [])
    .filter(({ kind, status }) => status !== 'cleared' || !lateKinds.includes(kind))
    .map(({ kind, status }) => `${kind} ${status}`)
}

describe.each(rows)('$kind of a payment that the service holds, too', ({ kind }) => {
  const of = (way: (typeof ways)[number]): string =>
    paid[way].find((one) => one.kind === kind)?.tx ?? 'not paid'

  test.each(ways)('is all that is told once every deadline has passed (%s)', async (way) => {
    expect(await kindsOf(of(way))).toEqual([`${kind} open`])
  })

  test('names the line of the policy, and what was paid stands with its owner', async () => {
    const shown = await shownOf(world.db, of('person'))
    expect(shown?.mismatches[0]?.detail).toMatchObject({ policy: expect.stringMatching(/^policy\.routes\[/) })
    // Of what was told of late, that is what its correction says.
    const credited = shown?.journals.flatMap(({ transfers }) => transfers.map(({ credit }) => credit))
    expect(credited?.at(-1)).toBe('liabilities:deposits:channel:shop')
  })

  test('clears once it is released and delivered', async () => {
    const { service_id: id } = (await shownOf(world.db, of('release')))?.deposit ?? {}
    await callService('POST', `/v1/proxies/deposits/${String(id)}/release`)
    await until(
      'it is reconciled',
      async () => (await isGoodInTheEnd(world.db, of('release'))) || null,
      withinMs,
    )
    expect(await kindsOf(of('release'))).toEqual([`${kind} cleared`])
  })

  test('clears once it is refunded', async () => {
    const { service_id: id } = (await shownOf(world.db, of('refund')))?.deposit ?? {}
    await callService('POST', `/v1/proxies/deposits/${String(id)}/refund`, { address: recipientOfShop() })
    const state = async () => (await shownOf(world.db, of('refund')))?.deposit.state
    await until('it is refunded', async () => (await state()) === 'refunded' || null, withinMs)
    expect(await kindsOf(of('refund'))).toEqual([`${kind} cleared`])
  })

  test('is ended by a person who decides to keep it', async () => {
    const shown = await shownOf(world.db, of('person'))
    const id = shown?.mismatches.find((one) => one.kind === kind)?.id
    const line = `mismatches resolve ${id} --reason kept`
    expect(await runDecided(line, world.environment)).toMatchObject({ status: 0 })
    expect(await kindsOf(of('person'))).toEqual([`${kind} resolved`])
    expect((await shownOf(world.db, of('person')))?.deposit.state).toBe('held')
  })
})

test.each(others.map((other, place) => ({ ...other, place })))(
  '$what is like any other deposit in the end',
  async ({ place }) => {
    const tx = otherTxs[place] ?? 'not paid'
    await until('it is reconciled', async () => (await isGoodInTheEnd(world.db, tx)) || null, withinMs)
  },
)

test('of the least that is accepted nothing was ever told', async () => {
  expect(await kindsOf(otherTxs[0] ?? 'not paid')).toEqual([])
})

test('refunds to a recipient of ours are seen, and explained by what the service says of them', async () => {
  const symbols = rows.map(({ symbol }) => symbol)
  const returned = async () => {
    const { rows: found } = await sql<{ symbol: string }>`
      select distinct asset.symbol from evidence join asset on asset.key = observation ->> 'asset'
      where observation ->> 'role' = 'recipient' and observation ->> 'stage' = 'final' and observation ->> 'tx' in (
        select claimed.observation -> 'refund' ->> 'tx' from evidence claimed)`.execute(world.db)
    return found.map(({ symbol }) => symbol).toSorted()
  }
  await until('both are final', async () => (await returned()).length === symbols.length || null, withinMs)
  expect(await returned()).toEqual(symbols.toSorted())
  await until('every deadline has passed', async () => (await isNothingDue()) || null, withinMs)
  const { rows: unexplained } = await sql`
    select subject from mismatch where kind = 'settlement_unreported' and cleared_at is null`.execute(
    world.db,
  )
  expect(unexplained).toEqual([])
})

test('nothing else is open, and the books hold', async () => {
  const { rows: open } = await sql`
    select kind, subject from mismatch where cleared_at is null and resolved_at is null`.execute(world.db)
  expect(open).toEqual([])
  expect(await brokenInvariants(world)).toEqual([])
})
