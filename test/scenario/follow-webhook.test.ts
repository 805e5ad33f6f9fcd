import { PassThrough } from 'node:stream'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver, treeOf } from '../support/otlp-receiver.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

/** One real deposit, followed by the log and by its traces from its webhooks to its journals. */

type Line = Record<string, unknown> & { event: string }

const withinMs = 120_000
const stack = new AsyncDisposableStack()
const text: string[] = []
let receiver: OtlpReceiver
let world: World
/** Rows of the inbox in which webhooks came, and the deposit that they told of. */
let webhooks: bigint[]
let deposit: bigint
let journals: string[]

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  stack.defer(() => receiver.stop())
  const output = new PassThrough().on('data', (line) => text.push(String(line)))
  world = await startWorld(
    {
      networks: ['base'],
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-scope=tests',
        OTEL_SERVICE_NAME: 'deposits of tests',
      },
      daemonLog: pino({ level: 'debug' }, output),
    },
    stack,
  )
  await world.pay({ network: 'base', symbol: 'USDC', owner: 'shop', amount: '12.5' })
  deposit = await until('the deposit is reconciled', reconciled, withinMs)
  const rows = await until('all webhooks are applied', allApplied, withinMs)
  webhooks = rows
  const posted = await sql<{ key: string }>`
    select posting_key as key from ledger_journal where deposit_id = ${deposit} order by id`.execute(world.db)
  journals = posted.rows.map(({ key }) => key)
}, withinMs + 60_000)
afterAll(() => stack.disposeAsync())

async function reconciled(): Promise<bigint | null> {
  const { rows } = await sql<{ id: bigint }>`select id from deposit where state = 'reconciled'`.execute(
    world.db,
  )
  return rows[0]?.id ?? null
}

/** The rows of webhooks, once none of them waits. */
async function allApplied(): Promise<bigint[] | null> {
  const { rows } = await sql<{ ids: bigint[]; waiting: bigint }>`
    select array(select id from inbox where source = 'webhook' order by id) as ids,
      (select count(*) from inbox_pending) as waiting`.execute(world.db)
  const [{ ids, waiting } = { ids: [], waiting: 1n }] = rows
  return waiting === 0n ? ids.map(BigInt) : null
}

function linesWith(part: string): Line[] {
  return text.filter((line) => line.includes(part)).map((line) => JSON.parse(line) as Line)
}

/** Of the rows that are followed; a webhook may have come since. */
function appliedSpans(): ReceivedSpan[] {
  const names = new Set<unknown>(webhooks.map((id) => `inbox/${id}`))
  return receiver.spans.filter(
    ({ name, attributes }) => name === 'apply' && names.has(attributes['depositd.inbox']),
  )
}

test('every line names an event', () => {
  expect(text.length).toBeGreaterThan(10)
  for (const line of text) expect(JSON.parse(line)).toMatchObject({ event: expect.any(String) })
})

test('one search for a row of the inbox finds its commit, its application, its deposit and the journals', () => {
  expect(webhooks.length).toBeGreaterThan(0)
  expect(journals.length).toBeGreaterThan(1)
  for (const id of webhooks) {
    const lines = linesWith(`"inbox/${id}"`)
    const names = lines.map(({ event }) => event)
    expect(names.slice(0, 3)).toEqual(['webhook_stored', 'row_applied', 'deposit_decided'])
    const booked = lines.filter(({ event }) => event === 'journals_posted')
    expect(booked.every((line) => line.deposit === deposit.toString())).toBe(true)
  }
})

test('every journal is told of once; all that were posted once a webhook was applied are found by the rows of webhooks', () => {
  const booked = linesWith(`"deposit":"${deposit}"`).filter(({ event }) => event === 'journals_posted')
  expect(booked.flatMap(journalsOf).toSorted()).toEqual(journals.toSorted())
  const before = text.slice(0, text.findIndex(isFirstApplied)).map((line) => JSON.parse(line) as Line)
  expect(new Set([...reached(), ...before.flatMap(journalsOf)])).toEqual(new Set(journals))
  expect(reached().size).toBeGreaterThan(0)
})

/** Of a batch a line tells only how many. */
function journalsOf({ event, journals: reported }: Line): string[] {
  return event === 'journals_posted' ? (reported as string[]) : []
}

function isFirstApplied(line: string): boolean {
  return line.includes('"row_applied"') && line.includes(`"inbox/${webhooks[0]}"`)
}

/** Journals that a search for rows of webhooks finds. */
function reached(): Set<string> {
  return new Set(webhooks.flatMap((id) => linesWith(`"inbox/${id}"`).flatMap(journalsOf)))
}

test('the trace of a webhook goes from its request through the database to the journals', async () => {
  const applied = await until('traces are sent', () => {
    const found = appliedSpans()
    return found.length === webhooks.length && traced().size === reached().size ? found : null
  })
  const traces = new Set(applied.map(({ traceId }) => traceId))
  expect(traces.size).toBe(webhooks.length)
  const trees = [...traces].map((traceId) => treeOf(receiver.spans, traceId))
  for (const tree of trees) expect(tree.slice(0, 4)).toEqual(['webhook', '  store', '  apply', '    decide'])
  const posts = receiver.spans.filter(({ name }) => name === 'post')
  expect(traced()).toEqual(reached())
  expect(posts.filter(({ traceId }) => !traces.has(traceId))).toEqual([])
  for (const { service } of receiver.spans) expect(service).toBe('deposits of tests')
  for (const headers of receiver.headers) expect(headers['x-scope']).toBe('tests')
})

/** Journals that traces name. */
function traced(): Set<string> {
  const posts = receiver.spans.filter(({ name }) => name === 'post')
  return new Set(posts.flatMap(({ attributes }) => attributes['depositd.journals'] as string[]))
}

test('a batch links to the webhooks that it applied, and they to it', () => {
  const batches = new Map(
    receiver.spans.filter(({ name }) => name === 'apply batch').map((span) => [span.spanId, span]),
  )
  const applied = appliedSpans()
  expect(applied).toHaveLength(webhooks.length)
  for (const { links = [], parentSpanId } of applied) {
    const batch = batches.get(links[0]?.spanId ?? '')
    expect(batch?.links?.map(({ spanId }) => spanId)).toContain(parentSpanId)
  }
})

test('jobs have spans of their own, with the requests that they make', () => {
  const jobs = new Map(
    receiver.spans.filter(({ name }) => name.startsWith('job ')).map((span) => [span.spanId, span]),
  )
  expect([...jobs.values()].map(({ name }) => name)).toEqual(
    expect.arrayContaining(['job apply', 'job scan', 'job poll']),
  )
  const calls = receiver.spans.filter(({ name }) => name.startsWith('rpc '))
  // A job that still runs is sent after its calls.
  expect(calls.filter(({ parentSpanId }) => jobs.has(parentSpanId ?? '')).length).toBeGreaterThan(0)
  for (const { parentSpanId, attributes } of calls) {
    expect(parentSpanId).toMatch(/^[\da-f]{16}$/)
    expect(attributes).toMatchObject({ 'depositd.network': 'base', 'depositd.outcome': expect.any(String) })
  }
})
