import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServiceCall, type ProviderOutcome, type ServiceCall } from '../../src/provider/service-call.ts'
import { startRawService } from '../support/raw-service.ts'
import { keyAuth } from '../support/service-auth.ts'

const apiKey = 'key-that-nobody-may-see'
const start = Date.parse('2026-01-01T00:00:00Z')

let stack: AsyncDisposableStack
let outcomes: ProviderOutcome[]
/** What was waited for between attempts; the clock moves by it, and by nothing else. */
let waits: number[]
let clock: number

beforeEach(() => {
  stack = new AsyncDisposableStack()
  outcomes = []
  waits = []
  clock = start
})
afterEach(() => stack.disposeAsync())

const pace = {
  now: () => new Date(clock),
  random: () => 0.5,
  wait: (milliseconds: number) => {
    waits.push(milliseconds)
    clock += milliseconds
    return Promise.resolve()
  },
}

async function serve(listener: RequestListener): Promise<string> {
  return stack.use(await startRawService(listener)).url
}

async function service(
  listener: RequestListener,
  changes: { timeoutMs?: number } = {},
): Promise<ServiceCall> {
  const settings = { url: await serve(listener), auth: keyAuth(apiKey), ...changes }
  return createServiceCall(settings, (outcome) => outcomes.push(outcome), pace)
}

const get = { method: 'GET', path: '/v1/things?limit=1' } as const
const post = { method: 'POST', path: '/v1/things', body: { id: 'a' } } as const

/** Answers of these statuses in turn, the last again and again. */
function inTurn(...answers: [status: number, headers?: Record<string, string>][]): RequestListener {
  let next = 0
  return (_request, response) => {
    const [status, headers] = answers[Math.min(next++, answers.length - 1)] ?? [500]
    response
      .writeHead(status, headers)
      .end(status === 200 ? '{"a":1}' : `{"detail":"${status} of ${apiKey}"}`)
  }
}

/** The fault's own words; the key is in none of them, nor in what caused it. */
async function problemOf(answer: Promise<unknown>): Promise<string> {
  const error: unknown = await answer.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ code: 'remote_failed' })
  const { message, stack: trace, cause, details } = error as Error & { details: { problem: string } }
  expect([message, trace, String(cause), JSON.stringify(details)].join()).not.toContain(apiKey)
  return details.problem
}

test.each([429, 500, 502, 503, 408])(
  'a read that is answered %s is tried again, later each time',
  async (status) => {
    const call = await service(inTurn([status], [status], [200]))
    expect(await call(get)).toMatchObject({ kind: 'answered' })
    expect(waits).toEqual([375, 750])
  },
)

test('a read is tried three times, and then it has failed', async () => {
  const call = await service(inTurn([500]))
  expect(await problemOf(call(get))).toContain('500 {"detail":"500 of [secret]"}')
  expect(outcomes).toEqual(['failed', 'failed', 'failed'])
})

test('what creates something is sent once', async () => {
  const call = await service(inTurn([500], [200]))
  await problemOf(call(post))
  expect(outcomes).toEqual(['failed'])
})

test.each([400, 401, 403, 404, 410, 422])('an answer %s is not asked for again', async (status) => {
  const call = await service(inTurn([status]))
  expect(await call(get)).toEqual({
    kind: 'refused',
    status,
    problem: `${status} {"detail":"${status} of [secret]"}`,
  })
  expect(outcomes).toEqual(['refused'])
})

test.each<[string, number]>([
  ['2', 2000],
  ['0', 375],
  ['-1', 375],
  ['1.5', 375],
  ['soon', 375],
  ['', 375],
  ['1e3', 375],
  ['99999999999999999999', 375],
  ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 375],
  ['2026-01-01', 375],
])('a Retry-After of "%s" means a wait of %i ms', async (header, wait) => {
  const call = await service(inTurn([429, { 'retry-after': header }], [200]))
  expect(await call(get)).toMatchObject({ kind: 'answered' })
  expect(waits).toEqual([wait])
})

test.each(['30', '86400', 'Fri, 01 Jan 2027 00:00:00 GMT'])(
  'a Retry-After of "%s" ends the call, and the service is left alone for that long, but not for long',
  async (header) => {
    const call = await service(inTurn([429, { 'retry-after': header }], [200]))
    expect(await problemOf(call(get))).toContain('429')
    expect(await problemOf(call(get))).toMatch(/^is left alone until 2026-01-01T00:0[05]/)
    expect(outcomes).toEqual(['limited', 'withheld'])
    expect(waits).toEqual([])
    clock += 301_000
    expect(await call(get)).toMatchObject({ kind: 'answered' })
  },
)

test('a service that keeps failing is left alone, tried by one request, and left alone for longer', async () => {
  let isWell = false
  const call = await service((request, response) => inTurn([isWell ? 200 : 500])(request, response))
  for (let count = 0; count < 5; count++) await problemOf(call(get))
  expect(outcomes).toHaveLength(15)
  expect(await problemOf(call(get))).toMatch(/^is left alone/)
  clock += 31_000
  await problemOf(call(get))
  expect(outcomes.slice(15)).toEqual(['withheld', 'failed'])
  clock += 31_000
  expect(await problemOf(call(get))).toMatch(/^is left alone/)
  clock += 31_000
  isWell = true
  expect(await call(get)).toMatchObject({ kind: 'answered' })
  isWell = false
  outcomes.length = 0
  await problemOf(call(get))
  expect(outcomes).toEqual(['failed', 'failed', 'failed'])
})

test('a service that refuses is alive: it is not left alone', async () => {
  const call = await service(inTurn([404]))
  for (let count = 0; count < 20; count++) await call(get)
  expect(new Set(outcomes)).toEqual(new Set(['refused']))
})

test.each<[string, string]>([
  ['a page of HTML', '<html>login</html>'],
  ['nothing', ''],
  ['half a document', '{"data":['],
  ['very deep JSON', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
])('%s with status 200 is a fault that says so', async (_what, body) => {
  const call = await service((_request, response) => response.end(body))
  expect(await problemOf(call(get))).toBe(`the answer is no JSON: ${body.slice(0, 80)}`)
  expect(outcomes).toEqual(['failed', 'failed', 'failed'])
})

test.each<[string, Record<string, string>, (chunk: Buffer) => Buffer]>([
  ['an answer without end', {}, (chunk) => chunk],
  ['a small answer that unpacks without end', { 'content-encoding': 'gzip' }, (chunk) => gzipSync(chunk)],
])('%s is cut off at the bound', async (_what, headers, pack) => {
  const chunk = pack(Buffer.alloc(1024 * 1024, ' '))
  const call = await service((_request, response) => {
    const pour = (): void => {
      while (!response.destroyed && response.write(chunk)) continue
      if (!response.destroyed) response.once('drain', pour)
    }
    response.writeHead(200, headers)
    pour()
  })
  expect(await problemOf(call(post))).toBe('the answer is too large')
})

test('a server that does not answer, or drips its answer, is given up on', async () => {
  const silent = await service(() => undefined, { timeoutMs: 50 })
  expect(await problemOf(silent(post))).toMatch(/timeout/)
  const dripping = await service(
    (_request, response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.once('close', () => clearInterval(timer))
    },
    { timeoutMs: 200 },
  )
  expect(await problemOf(dripping(post))).toMatch(/timeout/)
})

test('a connection that is cut in the middle of an answer is a fault', async () => {
  const call = await service((_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{"data"', () => response.destroy())
  })
  await problemOf(call(get))
  expect(outcomes).toEqual(['failed', 'failed', 'failed'])
})

test('a redirect is refused, and the key goes nowhere else', async () => {
  let elsewhere = 0
  const other = await serve((_request, response) => {
    elsewhere++
    response.end('{}')
  })
  const call = await service((_request, response) =>
    response.writeHead(302, { location: `${other}/v1` }).end(),
  )
  await problemOf(call(get))
  expect(elsewhere).toBe(0)
})

test('a long complaint is cut', async () => {
  const call = await service((_request, response) => response.writeHead(500).end('x'.repeat(100_000)))
  expect((await problemOf(call(get))).length).toBeLessThan(400)
})

test('a server that is not there, and a key that no header can carry, are faults', async () => {
  const gone = await startRawService(() => undefined)
  await gone[Symbol.asyncDispose]()
  const unreachable = createServiceCall({ url: gone.url, auth: keyAuth(apiKey) }, undefined, pace)
  expect(await problemOf(unreachable(get))).toContain('ECONNREFUSED')
  const headers = { 'X-API-KEY': `${apiKey}\u0000${apiKey}` }
  const odd = createServiceCall({ url: gone.url, auth: { ...keyAuth(apiKey), headers } }, undefined, pace)
  await problemOf(odd(get))
})

test('a password in the address is not repeated', async () => {
  const call = createServiceCall(
    { url: 'http://user:hunter2@127.0.0.1:1', auth: keyAuth(apiKey) },
    undefined,
    pace,
  )
  expect(await problemOf(call(get))).not.toContain('hunter2')
})
