import { createHash, createHmac, generateKeyPairSync, verify } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ServiceAuth } from '../../src/config/service-auth.ts'
import { createServiceCall, probeScope, type ServiceCall } from '../../src/provider/service-call.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type RawService, startRawService } from '../support/raw-service.ts'
import { keyAuth, serviceAuth } from '../support/service-auth.ts'

type Arrived = { method: string; url: string; headers: IncomingHttpHeaders; body: string }

let server: RawService
let arrived: Arrived[]
/** The last of them is repeated; a text is the place of a redirect. */
let answers: (number | string | ((request: Arrived) => string))[]

beforeEach(async () => {
  arrived = []
  answers = [200]
  server = await startRawService((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body }
      arrived.push(one)
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (typeof answer === 'string') return response.writeHead(307, { location: answer }).end()
      if (typeof answer === 'function') return response.writeHead(401).end(answer(one))
      return response.writeHead(answer ?? 200).end('{}')
    })
  })
})
afterEach(() => server[Symbol.asyncDispose]())

const at = Date.parse('2026-01-01T00:00:00.250Z')
let clock = at
const pace = {
  now: () => new Date(clock),
  random: () => 0,
  wait: (milliseconds: number) => {
    clock += milliseconds
    return Promise.resolve()
  },
}

function callWith(auth: ServiceAuth, url = server.url): ServiceCall {
  clock = at
  return createServiceCall({ url, auth }, undefined, pace)
}

const get = { method: 'GET', path: '/v1/things?to=a%20b&limit=1' } as const
const post = { method: 'POST', path: '/v1/things', body: { id: 'ä' } } as const

/** What a request carries besides what every request carries. */
async function headersOf(auth: ServiceAuth): Promise<IncomingHttpHeaders> {
  await callWith(auth)(get)
  const usual = /^(?:host|connection|accept(?:-\w+)?|sec-fetch-mode|user-agent)$/
  return Object.fromEntries(
    Object.entries(arrived.at(-1)?.headers ?? {}).filter(([name]) => !usual.test(name)),
  )
}

const hmacHex = (key: string, signed: string) => createHmac('sha256', key).update(signed).digest('hex')

test('without a section, the key is sent as X-API-KEY', async () => {
  expect(await headersOf(keyAuth('key-1'))).toEqual({ 'x-api-key': 'key-1' })
})

test('a header of any name carries the key behind a prefix, beside fixed headers', async () => {
  const section = {
    header: 'Authorization',
    prefix: 'Bearer ',
    headers: { 'X-Tenant': 'acme', 'CF-Access-Client-Secret': { secret: 'SERVICE_API_CLIENT' } },
  }
  const auth = serviceAuth(section, { SERVICE_API_KEY: 'token', SERVICE_API_CLIENT: 'client' })
  expect(await headersOf(auth)).toEqual({
    authorization: 'Bearer token',
    'x-tenant': 'acme',
    'cf-access-client-secret': 'client',
  })
})

test('a user and a password are sent as RFC 7617 says', async () => {
  // The example of section 2.1.
  const section = { scheme: 'basic', user: 'test', secret: 'SERVICE_API_PASSWORD' }
  const auth = serviceAuth(section, { SERVICE_API_PASSWORD: '123£' })
  expect(await headersOf(auth)).toEqual({ authorization: 'Basic dGVzdDoxMjPCow==' })
})

test('a service can do without', async () => {
  expect(await headersOf(serviceAuth({ scheme: 'none' }, {}))).toEqual({})
})

async function tokenFile(): Promise<{ path: string; auth: ServiceAuth }> {
  const path = join(await temporaryFolder(), 'token')
  return { path, auth: serviceAuth({ scheme: 'token-file', path }, {}) }
}

test('a renewed token is sent from the next request on, also by an attempt of the same call', async () => {
  const { path, auth } = await tokenFile()
  await writeFile(path, 'first\n')
  const call = callWith(auth)
  await call(get)
  await writeFile(`${path}.new`, 'second')
  await rename(`${path}.new`, path)
  answers = [503, 200]
  const again = createServiceCall({ url: server.url, auth }, undefined, {
    ...pace,
    wait: () => writeFile(path, 'third'),
  })
  await again(get)
  await call(get)
  expect(arrived.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer first',
    'Bearer second',
    'Bearer third',
    'Bearer third',
  ])
})

async function problemOf(answer: Promise<unknown>): Promise<string> {
  const error = await answer.catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'remote_failed' })
  return (error as { details: { problem: string } }).details.problem
}

test('a token file that is missing, empty or no token fails the call, until it holds one', async () => {
  const { path, auth } = await tokenFile()
  const call = callWith(auth)
  expect(await problemOf(call(post))).toMatch(/^the token file cannot be read: ENOENT: .*token'$/)
  await writeFile(path, ' \n')
  expect(await problemOf(call(post))).toBe(`the token file ${path} is empty`)
  await writeFile(path, 'one\ntwo')
  expect(await problemOf(call(post))).toBe(`the token file ${path} must hold one line of printable ASCII`)
  await writeFile(path, 'x'.repeat(20_000))
  expect(await problemOf(call(post))).toContain('has more than 16384 bytes')
  await rm(path)
  const folder = serviceAuth({ scheme: 'token-file', path: '.' }, {})
  expect(await problemOf(callWith(folder)(post))).toMatch(/is no file$/)
  expect(arrived).toEqual([])
  await writeFile(path, 'at-last')
  await call(post)
  expect(arrived[0]?.headers.authorization).toBe('Bearer at-last')
})

const hmac = {
  scheme: 'hmac',
  template: '{method}|{path}|{timestamp}|{nonce}|{body}',
  header: 'X-Signature',
  apiKey: { header: 'X-Key', prefix: 'ACME ' },
  timestamp: { header: 'X-Time', unit: 'ms' },
  nonce: { header: 'X-Nonce' },
}
const secrets = { SERVICE_API_KEY: 'key-id', SERVICE_API_SECRET: 'the-signing-secret' }

test.each([
  ['PEM', 'text'],
  ['base64', 'base64'],
  ['hex', 'hex'],
] as const)(
  'a private key in %s signs the request, and its public key verifies it',
  async (_form, encoding) => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const bare = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString().trim()
    const section = { ...hmac, scheme: 'ed25519', encoding: 'base64', secretEncoding: encoding }
    const secret = encoding === 'text' ? pem : bare.toString(encoding)
    await callWith(serviceAuth(section, { ...secrets, SERVICE_API_SECRET: secret }))(post)
    const [{ method, url, headers, body } = { method: '', url: '', headers: {}, body: '' }] = arrived
    const signed = [method, url, headers['x-time'], headers['x-nonce'], body].join('|')
    const signature = Buffer.from(String(headers['x-signature']), 'base64')
    expect(verify(null, Buffer.from(signed), publicKey, signature)).toBe(true)
  },
)

test('what is signed is what arrives: path with query, and the body byte for byte', async () => {
  // A proxy may add a path of its own.
  const call = callWith(serviceAuth(hmac, secrets), `${server.url}/base/`)
  await call(get)
  await call(post)
  expect(arrived.map(({ url }) => url)).toEqual(['/base/v1/things?to=a%20b&limit=1', '/base/v1/things'])
  for (const { method, url, headers, body } of arrived) {
    expect(headers).toMatchObject({ 'x-key': 'ACME key-id', 'x-time': String(at) })
    const signed = [method, url, headers['x-time'], headers['x-nonce'], body].join('|')
    expect(headers['x-signature']).toBe(hmacHex('the-signing-secret', signed))
  }
})

test('each attempt has a time, a nonce and a signature of its own', async () => {
  answers = [503, 429, 200]
  await callWith(serviceAuth(hmac, secrets))(get)
  expect(arrived).toHaveLength(3)
  for (const name of ['x-time', 'x-nonce', 'x-signature'])
    expect(new Set(arrived.map(({ headers }) => headers[name])).size).toBe(3)
})

test('nonces increase over all calls of the process, at once and at the same time', async () => {
  const auth = serviceAuth({ ...hmac, nonce: { header: 'X-Nonce', form: 'increasing' } }, secrets)
  const calls = [callWith(auth), callWith(auth)]
  await Promise.all(Array.from({ length: 10 }, () => calls.map((call) => call(get))).flat())
  const nonces = arrived.map(({ headers }) => Number(headers['x-nonce']))
  expect(new Set(nonces).size).toBe(20)
  expect(Math.min(...nonces)).toBeGreaterThanOrEqual(at * 1000)
  expect(Math.max(...nonces)).toBeLessThan(Number.MAX_SAFE_INTEGER)
})

test('one header can carry it all, and a digest can be signed as text', async () => {
  const section = {
    scheme: 'hmac',
    template: '{apiKey}\n{sha256-base64:{body}}\n{timestamp}',
    header: 'Authorization',
    value: 'ACME key={apiKey},t={timestamp},n={nonce},s={signature}',
    encoding: 'base64',
    secretEncoding: 'hex',
    algorithm: 'sha384',
  }
  await callWith(serviceAuth(section, { ...secrets, SERVICE_API_SECRET: 'C0FFEE' }))(post)
  const [{ headers, body } = { headers: {}, body: '' }] = arrived
  const [, nonce = ''] = /n=([0-9a-f-]{36}),/.exec(headers.authorization ?? '') ?? []
  const digest = createHash('sha256').update(body).digest('base64')
  const signed = `key-id\n${digest}\n1767225600`
  const signature = createHmac('sha384', Buffer.from('c0ffee', 'hex')).update(signed).digest('base64')
  expect(headers.authorization).toBe(`ACME key=key-id,t=1767225600,n=${nonce},s=${signature}`)
})

test('a value that looks like a placeholder stays as it is', async () => {
  await callWith(serviceAuth({ ...hmac, template: '{body}' }, secrets))({ ...post, body: { id: '{apiKey}' } })
  expect(arrived[0]?.headers['x-signature']).toBe(hmacHex('the-signing-secret', '{"id":"{apiKey}"}'))
})

const password = 'a"pass/word'
/** `holds` is all that must not be repeated. */
type Secretive = { auth: () => Promise<ServiceAuth>; holds: string[] }
const every: Record<string, Secretive> = {
  header: { auth: () => Promise.resolve(keyAuth('the-key')), holds: ['the-key'] },
  'fixed header': {
    auth: () => {
      const section = { scheme: 'none', headers: { 'X-Pass': { secret: 'SERVICE_API_PASS' } } }
      return Promise.resolve(serviceAuth(section, { SERVICE_API_PASS: 'the-pass' }))
    },
    holds: ['the-pass'],
  },
  basic: {
    auth: () => Promise.resolve(serviceAuth({ scheme: 'basic', user: 'me' }, { SERVICE_API_KEY: password })),
    holds: [password, 'a\\"pass/word', 'a%22pass%2Fword', Buffer.from(`me:${password}`).toString('base64')],
  },
  'token file': {
    auth: async () => {
      const { path, auth } = await tokenFile()
      await writeFile(path, 'the-token')
      return auth
    },
    holds: ['the-token'],
  },
  hmac: {
    auth: () => Promise.resolve(serviceAuth(hmac, secrets)),
    holds: ['key-id', 'the-signing-secret'],
  },
}

test.each(Object.entries(every))(
  '%s: what a service repeats is not shown',
  async (_name, { auth, holds }) => {
    answers = [({ headers }) => [...holds, headers['x-signature'] ?? 'none'].join(' ')]
    const answer = await callWith(await auth())(post)
    const signature = arrived[0]?.headers['x-signature'] === undefined ? 'none' : '[secret]'
    const problem = ['401', ...holds.map(() => '[secret]'), signature].join(' ')
    expect(answer).toEqual({ kind: 'refused', status: 401, problem })
  },
)

test.each(Object.entries(every))('%s: a redirect carries nothing elsewhere', async (_name, secretive) => {
  const reached: string[] = []
  await using other = await startRawService((request, response) => {
    reached.push(request.url ?? '')
    response.end('{}')
  })
  answers = [`${other.url}/elsewhere`]
  const auth = await secretive.auth()
  expect(await problemOf(callWith(auth)(post))).toMatch(/redirect, which is not followed/)
  expect(await probeScope({ url: server.url, auth, timeoutMs: 5000 }, '/v1/channels')).toBe('unasked')
  expect(reached).toEqual([])
})

test('the scope of a signing key is found by a signed request, and one without signature', async () => {
  answers = [400, 401]
  const auth = serviceAuth(hmac, secrets)
  expect(await probeScope({ url: server.url, auth, timeoutMs: 5000 }, '/v1/channels')).toBe('write')
  const [signed, bare] = arrived
  const { 'x-time': time = '', 'x-nonce': nonce = '' } = signed?.headers ?? {}
  const message = ['POST', '/v1/channels', time, nonce, '{'].join('|')
  expect(signed?.headers['x-signature']).toBe(hmacHex('the-signing-secret', message))
  expect(Object.keys(bare?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([])
})
