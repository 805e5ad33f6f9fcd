import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { intakeLimits, transfersPath } from '../../src/intake/server.ts'
import { opsLimits } from '../../src/ops/server.ts'
import { memoryWriter, startTestIntake } from '../support/intake.ts'
import { startUnopened } from '../support/ops-server.ts'

/**
 * Requests that a proxy and the server behind it could take for different ones, sent as raw bytes to both servers. Each
 * ends with a whole request that would be answered if what comes before it were read the lenient way.
 */

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

type Started = { port: number; path: string; stored: () => number }

const servers = {
  async intake(): Promise<Started> {
    const inbox = memoryWriter()
    const intake = await startTestIntake({
      write: inbox.write,
      limits: { headersTimeoutMs: 300, requestTimeoutMs: 600, timeoutCheckMs: 50 },
    })
    stops.push(() => intake.stop())
    return { port: portOf(intake.url), path: transfersPath, stored: () => inbox.rows.size }
  },
  async ops(): Promise<Started> {
    const limits = { ...opsLimits, headersTimeoutMs: 300, requestTimeoutMs: 600, timeoutCheckMs: 50 }
    const ops = await startUnopened({ limits })
    return { port: portOf(ops.url), path: '/livez', stored: () => 0 }
  },
}

const names = ['intake', 'ops'] as const
/** Nothing, or that it took too long, and nothing behind that. */
const timedOut = /^(?:HTTP\/1\.1 408 (?:(?!HTTP\/).)*)?$/s

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** All that a server answers until it hangs up. */
async function answersTo({ port }: Started, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(bytes, 'latin1')
  return text(socket)
}

function statusesIn(answers: string): string[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status)
}

const host = 'Host: localhost\r\n'
const smuggled = (path: string) => `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`

const ambiguous: Record<string, (path: string) => string> = {
  'a length and chunks': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks and a length': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  'two lengths': (path) => `POST ${path} HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 40\r\n\r\n`,
  'a length twice over in a list': (path) => `POST ${path} HTTP/1.1\r\n${host}Content-Length: 0, 40\r\n\r\n`,
  'a length with a sign': (path) => `POST ${path} HTTP/1.1\r\n${host}Content-Length: +0\r\n\r\n`,
  'a length that is no number': (path) => `POST ${path} HTTP/1.1\r\n${host}Content-Length: 0x0\r\n\r\n`,
  'two encodings, the last of them unknown': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n`,
  'an encoding that only looks like chunks': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  'a blank before the colon': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
  'a folded header': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
  'lines that end with a line feed alone': (path) => `GET ${path} HTTP/1.1\nHost: localhost\n\n`,
  'a line that ends with a carriage return alone': (path) =>
    `GET ${path} HTTP/1.1\r\n${host}X-A: b\rX-B: c\r\n\r\n`,
  'a NUL in a header': (path) => `GET ${path} HTTP/1.1\r\n${host}X-A: b\0c\r\n\r\n`,
  'a size of a chunk with a sign': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n`,
  'a chunk that is longer than it says': (path) =>
    `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`,
  'no host': (path) => `GET ${path} HTTP/1.1\r\n\r\n`,
  'no version that is known': (path) => `GET ${path} HTTP/9.9\r\n${host}\r\n`,
  'a preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
}

test.each(names.flatMap((name) => Object.keys(ambiguous).map((what) => [name, what] as const)))(
  '%s: %s is refused, and what follows is not taken for a request',
  async (name, what) => {
    const server = await servers[name]()
    const bytes = (ambiguous[what]?.(server.path) ?? '') + smuggled(server.path)
    const answers = await answersTo(server, bytes)
    const statuses = statusesIn(answers)
    // Where a body is of no use, the answer may come before the body is looked at.
    expect(statuses.join()).toMatch(/^(400|404|404,400)$/)
    expect(server.stored()).toBe(0)
  },
)

test.each(names)('%s answers what follows a request that is whole', async (name) => {
  const server = await servers[name]()
  const whole = `GET ${server.path} HTTP/1.1\r\n${host}\r\n`
  expect(statusesIn(await answersTo(server, whole + smuggled(server.path)))).toEqual(['200', '200'])
})

test.each(names)('%s: more headers than are kept are refused', async (name) => {
  const server = await servers[name]()
  const many = `X-A: ${'b'.repeat(20_000)}\r\n`
  expect(await answersTo(server, `GET ${server.path} HTTP/1.1\r\n${host}${many}\r\n`)).toMatch(
    /^HTTP\/1\.1 431 /,
  )
})

test.each(names)('%s hangs up on who never ends its headers', async (name) => {
  const server = await servers[name]()
  expect(await answersTo(server, `GET ${server.path} HTTP/1.1\r\n${host}X-Slow: `)).toMatch(timedOut)
})

test.each(names)('%s hangs up on who says nothing', async (name) => {
  expect(await answersTo(await servers[name](), '')).toMatch(timedOut)
})

test('the ops port holds no more connections than its bound', async () => {
  const ops = await startUnopened({ limits: { ...opsLimits, connectionsMax: 3 } })
  const sockets = Array.from({ length: 6 }, () => connect(portOf(ops.url), '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => undefined).resume()
  await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBe(3)
  for (const socket of sockets) socket.destroy()
})

test('both give a request as long as slow networks take, and no longer', () => {
  for (const limits of [intakeLimits, opsLimits]) {
    expect(limits.headersTimeoutMs).toBeLessThanOrEqual(limits.requestTimeoutMs)
    expect(limits.requestTimeoutMs).toBeLessThanOrEqual(30_000)
  }
})
