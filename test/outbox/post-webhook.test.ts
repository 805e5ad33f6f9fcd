import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import {
  answerTextMax,
  type EndpointAnswer,
  openPoster,
  openPublicLookup,
  type PosterSettings,
  type Resolve,
} from '../../src/outbox/post-webhook.ts'
import { until } from '../support/until.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

/** A server of its own, and how often it was called. */
async function serve(listener: RequestListener): Promise<{ url: string; calls: () => number }> {
  let calls = 0
  const server = createServer((request, response) => {
    calls += 1
    listener(request, response)
  })
  return { url: await listen(server), calls: () => calls }
}

async function listen(server: Pick<Server, 'listen' | 'address' | 'close' | 'once'>): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server as Server, 'listening')
  closing.push(async () => {
    if (server instanceof Object && 'closeAllConnections' in server) (server as Server).closeAllConnections()
    const closed = once(server as Server, 'close')
    server.close()
    await closed
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a server that listens has an address')
  return `http://127.0.0.1:${bound.port}/hook`
}

const never = new AbortController().signal

async function post(
  url: string,
  settings: Partial<PosterSettings> = {},
  stopping = never,
): Promise<EndpointAnswer> {
  const poster = openPoster({ allowPrivate: true, timeoutMs: 5000, ...settings })
  const answer = await poster.post({ url, headers: { 'x-one': '1' }, body: '{"a":"ä"}' }, stopping)
  poster.close()
  return answer
}

test('the body arrives byte for byte, and the answer is told', async () => {
  const parts: Buffer[] = []
  const { url } = await serve((request, response) => {
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => response.writeHead(202, { 'retry-after': '7' }).end('stored'))
  })
  expect(await post(url)).toEqual({ kind: 'answered', status: 202, text: 'stored', retryAfter: '7' })
  expect(Buffer.concat(parts).toString()).toBe('{"a":"ä"}')
})

test('a redirect is an answer, and nothing is called where it points', async () => {
  const other = await serve((_request, response) => response.end())
  const { url } = await serve((_request, response) => response.writeHead(307, { location: other.url }).end())
  expect(await post(url)).toMatchObject({ kind: 'answered', status: 307 })
  expect(other.calls()).toBe(0)
})

test('an endless answer is cut off, and its status counts', async () => {
  let closed = false
  const { url } = await serve((_request, response) => {
    const more = () => response.write('a'.repeat(10_000))
    response.writeHead(200)
    more()
    response.on('drain', more)
    response.on('close', () => {
      closed = true
    })
  })
  expect(await post(url)).toMatchObject({ status: 200, text: 'a'.repeat(answerTextMax) })
  await until('the connection is closed', () => (closed ? true : null))
})

test('an answer that breaks off after its status is an answer', async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('begun')
    response.socket?.end()
  })
  expect(await post(url)).toMatchObject({ kind: 'answered', status: 200, text: 'begun' })
})

test('what is answered is fit to be stored: no control characters, and no secrets sent back', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const { url } = await serve((_request, response) =>
    response.writeHead(500).end(`\u0000a\u001b[31m\n${secret} whsk_${'A'.repeat(44)}\ud800 ä`),
  )
  expect(await post(url)).toMatchObject({ text: 'a [31m (secret) (secret)� ä' })
})

test('a name or a port where nobody answers is told apart', async () => {
  expect(await post('http://nobody.invalid/hook')).toMatchObject({
    kind: 'unanswered',
    problem: 'name_unknown',
  })
  expect(await post('http://127.0.0.1:1/hook')).toMatchObject({
    kind: 'unanswered',
    problem: 'connection_refused',
  })
})

test('a receiver that is too slow, by whatever means, is given up', async () => {
  const silent = await serve(() => undefined)
  expect(await post(silent.url, { timeoutMs: 50 })).toMatchObject({
    kind: 'unanswered',
    problem: 'timed_out',
  })
  const dripping = await serve((_request, response) => response.writeHead(500).write('a'))
  expect(await post(dripping.url, { timeoutMs: 3000 })).toMatchObject({ status: 500, text: 'a' })
})

test('a stop ends the attempt, and is told apart from a time-out', async () => {
  const { url, calls } = await serve(() => undefined)
  const stopping = new AbortController()
  const answer = post(url, {}, stopping.signal)
  await until('the request', () => (calls() > 0 ? true : null))
  stopping.abort()
  expect(await answer).toMatchObject({ kind: 'unanswered', problem: 'stopped' })
})

/** What a server that speaks no HTTP does with a connection. */
const answers: [string, string | null, string][] = [
  ['hangs up', null, 'connection_lost'],
  ['answers no HTTP', 'SSH-2.0-server\r\n', 'answer_malformed'],
  ['answers endless headers', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(40_000)}\r\n\r\n`, 'answer_malformed'],
  [
    'asks for another protocol',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'connection_lost',
  ],
]

test.each(answers)('a server that %s has not answered', async (_does, bytes, problem) => {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => (bytes === null ? socket.destroy() : socket.write(bytes)))
  })
  const url = await listen(server as unknown as Server)
  expect(await post(url)).toMatchObject({ kind: 'unanswered', problem })
})

test('a server without TLS where TLS is expected has failed', async () => {
  const { url } = await serve((_request, response) => response.end())
  expect(await post(url.replace('http:', 'https:'))).toMatchObject({
    kind: 'unanswered',
    problem: 'tls_failed',
  })
})

test.each(['127.0.0.1', 'localhost', '[::1]', '0x7f.1'])(
  'without allowPrivate nothing is sent to %s',
  async (host) => {
    const { url, calls } = await serve((_request, response) => response.end())
    const address = url.replace('127.0.0.1', host)
    expect(await post(address, { allowPrivate: false })).toEqual({
      kind: 'unanswered',
      problem: 'address_refused',
    })
    expect(calls()).toBe(0)
  },
)

test.each([
  ['a private address', [{ address: '127.0.0.1', family: 4 }]],
  [
    'a public and a private address',
    [
      { address: '1.1.1.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ],
  ],
])('without allowPrivate nothing is sent to a name that means %s', async (_means, found) => {
  const { url, calls } = await serve((_request, response) => response.end())
  const address = url.replace('127.0.0.1', 'shop.example')
  const resolve: Resolve = (_name, _options, done) => done(null, found)
  expect(await post(address, { allowPrivate: false, resolve })).toMatchObject({
    kind: 'unanswered',
    problem: 'address_refused',
  })
  expect(calls()).toBe(0)
})

test('without allowPrivate a name that means public addresses is connected to', () => {
  const found = [{ address: '1.1.1.1', family: 4 }]
  const lookup = openPublicLookup((_name, _options, done) => done(null, found))
  const reported: unknown[][] = []
  lookup('shop.example', { all: true }, (...answer) => reported.push(answer))
  lookup('shop.example', {}, (...answer) => reported.push(answer))
  expect(reported).toEqual([
    [null, found],
    [null, '1.1.1.1', 4],
  ])
})
