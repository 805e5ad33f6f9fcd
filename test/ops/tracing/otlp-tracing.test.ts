import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AppliedTrail } from '../../../src/ops/tell-applied.ts'
import { startTracing } from '../../../src/ops/tracing/otlp-tracing.ts'
import { parseTraceparent } from '../../../src/ops/tracing/traceparent.ts'
import type { TracingDeps } from '../../../src/ops/tracing/tracing.ts'
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

function start(
  traceparents: ReadonlyMap<bigint, string> = new Map(),
  change: Partial<TracingDeps> = {},
  ratio = 1,
) {
  const lost: unknown[] = []
  const tracing = startTracing(
    { url: `${receiver.url}/v1/traces`, headers: {}, serviceName: 'test', ratio },
    {
      version: 'test',
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
  const { tracing } = start(new Map(), {}, 0.5)
  const traced = Array.from({ length: 400 }, () => tracing.webhook({ ...arriving, traceparent: undefined }))
  const share = traced.filter((one) => one !== null).length / 400
  expect(share).toBeGreaterThan(0.3)
  expect(share).toBeLessThan(0.7)
  expect(start(new Map(), {}, 0).tracing.webhook({ ...arriving, traceparent: undefined })).toBeNull()
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
  const failing = tracing.job({ name: 'prove', key: 'base' }, () => Promise.reject(new Error('no node')))
  await expect(failing).rejects.toThrow('no node')
  await tracing.stop()
  const span = receiver.spans.find(({ name }) => name === 'job prove')
  expect(span).toMatchObject({
    attributes: { 'depositd.key': 'base' },
    status: { code: 2, message: 'no node' },
  })
})

test('a collector that is not there is told of, and holds up nothing', async () => {
  const lost: unknown[] = []
  const settings = { url: 'http://127.0.0.1:9/v1/traces', headers: {}, serviceName: 'test', ratio: 1 }
  const deps = {
    version: 'test',
    traceparentsOf: () => Promise.resolve(new Map()),
    onLost: (error: unknown) => lost.push(error),
  }
  const tracing = startTracing(settings, deps)
  tracing.webhook({ ...arriving, traceparent: undefined })?.end('stored')
  await tracing.stop()
  expect(String(lost[0])).toContain('2 spans were dropped')
}, 15_000)

test('a database that does not tell where traces go on is told of, and holds up nothing', async () => {
  const gone = new Error('connection lost')
  const { tracing, lost } = start(new Map(), { traceparentsOf: () => Promise.reject(gone) })
  tracing.applied(batchOf({ taken: [{ id: 1n, source: 'webhook' }] }))
  await tracing.stop()
  expect(lost).toEqual([gone])
})
