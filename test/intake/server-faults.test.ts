import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { InboxOutcome, ReceivedWebhook } from '../../src/intake/inbox-writer.ts'
import { createInboxWriter } from '../../src/intake/inbox-writer.ts'
import { transfersPath } from '../../src/intake/server.ts'
import {
  deliver,
  memoryWriter,
  requestHead,
  signed,
  startTestIntake,
  type TestIntake,
  writerBounds,
} from '../support/intake.ts'

const started: TestIntake[] = []
afterEach(() => Promise.all(started.splice(0).map((intake) => intake.stop())))

async function start(change: Parameters<typeof startTestIntake>[0]): Promise<TestIntake> {
  const intake = await startTestIntake(change)
  started.push(intake)
  return intake
}

async function open({ url }: TestIntake): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Everything the server says until it closes the connection. */
async function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  await once(socket, 'close')
  return text
}

test('a store that breaks is answered 503 with a time to come back, and its error is told', async () => {
  const broken = new Error('connection lost')
  const intake = await start({ write: () => Promise.reject(broken) })
  const response = await deliver(intake, { id: 'msg_1' })
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('5')
  expect(await response.json()).toEqual({ code: 'unavailable' })
  expect(intake.errors).toEqual([broken])
  expect(intake.wakes()).toBe(0)
})

test('a full inbox is answered 503 with a time to come back', async () => {
  const intake = await start({ write: () => Promise.resolve('overloaded') })
  const response = await deliver(intake, { id: 'msg_1' })
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await response.json()).toEqual({ code: 'overloaded' })
})

test('whatever was answered 202 is stored, whichever commits break', async () => {
  const kept = new Map<string, ReceivedWebhook>()
  let commits = 0
  const store = async (rows: readonly ReceivedWebhook[]): Promise<InboxOutcome[]> => {
    if (commits++ % 3 === 1) throw new Error('connection lost')
    for (const row of rows) kept.set(row.sourceKey, row)
    return rows.map(() => 'stored')
  }
  const intake = await start({ write: createInboxWriter({ ...writerBounds, flushRowsMax: 7, store }).write })
  const statuses = await Promise.all(
    Array.from({ length: 200 }, async (_, number) => {
      const { status } = await deliver(intake, { id: `msg_${number}` })
      return { id: `msg_${number}`, status }
    }),
  )
  const accepted = statuses.filter(({ status }) => status === 202).map(({ id }) => id)
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([202, 503]))
  expect(accepted.toSorted()).toEqual([...kept.keys()].toSorted())
})

test('all unfinished bodies together stay within their bound', async () => {
  const intake = await start({ write: memoryWriter().write, limits: { unfinishedBytesMax: 50_000 } })
  const slow = await open(intake)
  slow.write(requestHead({ ...signed('slow', Buffer.alloc(0)), 'content-length': '60000' }))
  slow.write('x'.repeat(40_000))
  const refusedWith = async () =>
    (await deliver(intake, { id: 'msg_1', body: `"${'x'.repeat(20_000)}"` })).status
  await expect.poll(refusedWith).toBe(503)
  slow.destroy()
  await expect.poll(refusedWith).toBe(202)
  expect(intake.observed.map(({ outcome }) => outcome)).toContain('aborted')
})

test('a body that does not arrive in time is given up, and nothing is stored', async () => {
  const inbox = memoryWriter()
  const intake = await start({
    write: inbox.write,
    // Long enough for the head to have arrived on a busy machine: what is given up is the body.
    limits: { headersTimeoutMs: 3000, requestTimeoutMs: 3000, timeoutCheckMs: 50 },
  })
  const socket = await open(intake)
  socket.write(requestHead({ ...signed('msg_1', Buffer.from('{}')), 'content-length': '2' }))
  socket.write('{')
  expect(await textOf(socket)).toContain('408 Request Timeout')
  await expect.poll(() => intake.observed.map(({ outcome }) => outcome)).toEqual(['aborted'])
  expect(inbox.rows.size).toBe(0)
})

test.each([
  ['headers that do not end', 'POST / HTTP/1.1\r\nhost: x\r\n'],
  ['a silent connection', ''],
])('%s are given up in time', async (_what, text) => {
  const intake = await start({
    write: memoryWriter().write,
    limits: { headersTimeoutMs: 100, requestTimeoutMs: 60_000, timeoutCheckMs: 50 },
  })
  const socket = await open(intake)
  if (text !== '') socket.write(text)
  expect(await textOf(socket)).toContain('408 Request Timeout')
})

test.each([
  ['headers of 17 KB', requestHead({ 'x-long': 'x'.repeat(17 * 1024) }), '431 '],
  ['two lengths', requestHead({ 'content-length': '2', 'Content-Length': '3' }), '400 '],
  ['a length and chunks', requestHead({ 'content-length': '2', 'transfer-encoding': 'chunked' }), '400 '],
  ['a length that is no number', requestHead({ 'content-length': '2x' }), '400 '],
  ['no host', `POST ${transfersPath} HTTP/1.1\r\n\r\n`, '400 '],
])('%s is refused and the connection closed', async (...[, head, status]) => {
  const intake = await start({ write: memoryWriter().write })
  const socket = await open(intake)
  socket.write(`${head}{}`)
  expect(await textOf(socket)).toContain(`HTTP/1.1 ${status}`)
})

const wholeRequest = (id: string, connection: 'keep-alive' | 'close') =>
  `${requestHead({ ...signed(id, Buffer.from('{}')), 'content-length': '2', connection })}{}`

test('pipelined requests are answered in their order', async () => {
  const intake = await start({ write: memoryWriter().write })
  const socket = await open(intake)
  socket.write(wholeRequest('a', 'keep-alive') + wholeRequest('a', 'keep-alive') + wholeRequest('b', 'close'))
  expect((await textOf(socket)).match(/"status":"\w+"/g)).toEqual([
    '"status":"stored"',
    '"status":"duplicate"',
    '"status":"stored"',
  ])
})

test('a taken port is a settings fault that names the setting and the mend', async () => {
  const intake = await start({ write: memoryWriter().write })
  const port = Number(new URL(intake.url).port)
  await expect(start({ write: memoryWriter().write, port })).rejects.toThrow(
    `HTTP_PORT ${port} is taken on 127.0.0.1: stop what listens there, or set HTTP_PORT to another port`,
  )
})

test('stopping finishes what is being answered, refuses what is new, and leaves no connection', async () => {
  const { promise: held, resolve: commit } = Promise.withResolvers<InboxOutcome>()
  const { promise: writing, resolve: startWriting } = Promise.withResolvers<void>()
  const intake = await startTestIntake({
    write: () => {
      startWriting()
      return held
    },
  })
  const idle = await open(intake)
  const inFlight = deliver(intake, { id: 'msg_1' })
  await writing
  const stopped = intake.stop()
  await expect(deliver(intake, { id: 'msg_2' })).rejects.toThrow('fetch failed')
  commit('stored')
  const response = await inFlight
  expect([response.status, response.headers.get('connection')]).toEqual([202, 'close'])
  await stopped
  expect(await textOf(idle)).toBe('')
})

test('stopping does not wait longer than its bound', async () => {
  const intake = await startTestIntake({
    write: () => new Promise(() => undefined),
    limits: { stopTimeoutMs: 50 },
  })
  const inFlight = deliver(intake, { id: 'msg_1' })
  inFlight.catch(() => undefined)
  const socket = await open(intake)
  await intake.stop()
  await expect(inFlight).rejects.toThrow('fetch failed')
  socket.destroy()
})
