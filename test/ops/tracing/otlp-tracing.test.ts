import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AppliedTrail } from '../../../src/ops/log-trail.ts'
import { parseTraceparent, startTracing } from '../../../src/ops/tracing/otlp-tracing.ts'
import type { TraceRecorder, TracingDeps } from '../../../src/ops/tracing/tracing.ts'
import { type OtlpReceiver, startOtlpReceiver, treeOf } from '../../support/otlp-receiver.ts'

let receiver: OtlpReceiver
beforeAll(async () => {
  receiver = await startOtlpReceiver()
})
afterAll(() => receiver.stop())

const senders = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const sampled = `00-${senders.traceId}-${senders.spanId}-01`
const arriving = { sourceKey: 'msg_1', startedAt: Date.now() }
const times = { begunAt: 1000, loadedAt: 1010, decidedAt: 1020, bookedAt: 1030 }

type Asked = Partial<TracingDeps> & { ratio?: number; url?: string }

function start(
  traceparents: ReadonlyMap<bigint, string> = new Map(),
  { ratio = 1, url = `${receiver.url}/v1/traces`, ...change }: Asked = {},
) {
  const lost: unknown[] = []
  const tracing = startTracing(
    { url, headers: {}, serviceName: 'test', ratio },
    {
      version: 'test',
      hide: (text) => text.replaceAll('hunter2', '***'),
      traceparentsOf: (ids) => Promise.resolve(new Map([...traceparents].filter(([id]) => ids.includes(id)))),
      onLost: (error) => lost.push(error),
      ...change,
    },
  )
  return { tracing, lost }
}

function batchOf(change: Partial<AppliedTrail>): AppliedTrail {
  return { rows: 1, groups: 1, journals: 0, taken: [], trails: [], times, ...change }
}

const trail = { depositId: 7n, state: 'reconciled', journals: ['journal 1'], rows: [1n], webhooks: [1n] }

test("a sender's trace is taken up, and goes on in what is written into the row", async () => {
  const { tracing } = start()
  const traced = tracing.webhook({ ...arriving, traceparent: sampled })
  expect(traced?.traceId).toBe(senders.traceId)
  traced?.end('stored')
  await tracing.stop()
  const span = receiver.spans.find(({ traceId, name }) => traceId === senders.traceId && name === 'webhook')
  expect(span).toMatchObject({
    parentSpanId: senders.spanId,
    attributes: { 'depositd.webhook': 'msg_1', 'depositd.outcome': 'stored' },
  })
  expect(parseTraceparent(traced?.traceparent)).toEqual({
    traceId: senders.traceId,
    spanId: span?.spanId,
    isSampled: true,
  })
})

test('a sender that does not sample its trace has none here', () => {
  expect(start().tracing.webhook({ ...arriving, traceparent: sampled.replace(/01$/, '00') })).toBeNull()
})

test('what is no traceparent begins a trace of its own', () => {
  const traced = start().tracing.webhook({ ...arriving, traceparent: 'nonsense' })
  expect(traced?.traceId).toMatch(/^[\da-f]{32}$/)
})

test('of all webhooks only a share is traced', () => {
  const { tracing } = start(new Map(), { ratio: 0.5 })
  const traced = Array.from({ length: 400 }, () => tracing.webhook({ ...arriving, traceparent: undefined }))
  const share = traced.filter((one) => one !== null).length / 400
  expect(share).toBeGreaterThan(0.3)
  expect(share).toBeLessThan(0.7)
  expect(start(new Map(), { ratio: 0 }).tracing.webhook({ ...arriving, traceparent: undefined })).toBeNull()
})

test('what later evidence books is found in the traces of the webhooks that told of the deposit', async () => {
  const traceId = 'a'.repeat(32)
  const { tracing } = start(new Map([[1n, `00-${traceId}-${'b'.repeat(16)}-01`]]))
  tracing.applied(batchOf({ taken: [{ id: 1n, source: 'webhook' }], trails: [{ ...trail, journals: [] }] }))
  tracing.applied(
    batchOf({ journals: 1, taken: [{ id: 2n, source: 'chain' }], trails: [{ ...trail, rows: [2n] }] }),
  )
  await tracing.stop()
  expect(treeOf(receiver.spans, traceId)).toEqual(['apply', '  decide', 'decide', '  post'])
  const posted = receiver.spans.find((span) => span.traceId === traceId && span.name === 'post')
  expect(posted?.attributes).toEqual({ 'depositd.journals': ['journal 1'] })
  const decided = receiver.spans.find(({ spanId }) => spanId === posted?.parentSpanId)
  expect(decided?.attributes).toEqual({
    'depositd.deposit': '7',
    'depositd.state': 'reconciled',
    'depositd.rows': ['inbox/2'],
  })
})

test('a row that came in without a trace gets none, and a trace that is not sampled does not grow', async () => {
  const traceId = 'c'.repeat(32)
  const { tracing } = start(new Map([[1n, `00-${traceId}-${'b'.repeat(16)}-00`]]))
  const before = receiver.spans.length
  const taken = [
    { id: 1n, source: 'webhook' },
    { id: 2n, source: 'webhook' },
  ]
  tracing.applied(batchOf({ rows: 2, taken, trails: [trail] }))
  await tracing.stop()
  expect(receiver.spans.slice(before).map(({ name }) => name)).toEqual(['apply batch'])
})

test('a job that fails says so, and what it throws goes on', async () => {
  const { tracing } = start()
  const said = 'no node at hunter2'
  const failing = tracing.job({ name: 'prove', key: 'base' }, () => Promise.reject(new Error(said)))
  await expect(failing).rejects.toThrow(said)
  await tracing.stop()
  const span = receiver.spans.find(({ name }) => name === 'job prove')
  expect(span).toMatchObject({
    attributes: { 'depositd.key': 'base' },
    status: { code: 2, message: 'no node at ***' },
  })
})

/** Traces so many webhooks, of two spans each. */
function trace(tracing: TraceRecorder, webhooks: number): void {
  for (let number = 0; number < webhooks; number++)
    tracing.webhook({ ...arriving, traceparent: undefined })?.end('stored')
}

/** How many spans were told of as lost. */
function lostOf(lost: readonly unknown[]): number {
  return lost.reduce<number>((sum, error) => sum + Number(/(\d+) spans were/.exec(String(error))?.[1]), 0)
}

test('a collector that is not there is told of, and holds up nothing', async () => {
  const { tracing, lost } = start(new Map(), { url: 'http://127.0.0.1:9/v1/traces' })
  trace(tracing, 1)
  await tracing.stop()
  expect(lostOf(lost)).toBe(2)
}, 15_000)

test('every span that a collector did not take is told of, those for which there was no room, too', async () => {
  await using silent = await startSilence()
  const { tracing, lost } = start(new Map(), { url: `${silent.url}/v1/traces` })
  trace(tracing, 10_000)
  await tracing.stop()
  expect(lostOf(lost)).toBe(20_000)
  expect(lost.map(String).join()).toContain('more than 8192 waited')
}, 30_000)

test('nothing is told of as lost that arrived', async () => {
  const { tracing, lost } = start()
  const before = receiver.spans.length
  trace(tracing, 500)
  await tracing.stop()
  expect(receiver.spans.length - before).toBe(1000)
  expect(lost).toEqual([])
})

/** A server that takes connections and never answers. */
async function startSilence() {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('of more batches at once than are looked up, it is told how many have no spans', async () => {
  const { promise, resolve } = Promise.withResolvers<ReadonlyMap<bigint, string>>()
  const { tracing, lost } = start(new Map(), { traceparentsOf: () => promise })
  for (let number = 0; number < 11; number++) tracing.applied(batchOf({}))
  resolve(new Map())
  await tracing.stop()
  expect(lost.map(String)).toEqual([expect.stringContaining('3 batches have no spans')])
})

test('a database that does not tell where traces go on is told of, and holds up nothing', async () => {
  const gone = new Error('connection lost')
  const { tracing, lost } = start(new Map(), { traceparentsOf: () => Promise.reject(gone) })
  tracing.applied(batchOf({ taken: [{ id: 1n, source: 'webhook' }] }))
  await tracing.stop()
  expect(lost).toEqual([gone])
})
