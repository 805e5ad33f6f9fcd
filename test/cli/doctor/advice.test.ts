import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loopback } from '../../../src/sandbox/free-port.ts'
import { readKey } from '../../service/fixtures.ts'
import { runCommand } from '../../support/command.ts'
import { type DoctorWorld, openDoctorWorld, settingsText } from '../../support/doctor-world.ts'
import { emptyDatabase } from '../../support/postgres.ts'
import { startRawService } from '../../support/raw-service.ts'

const stack = new AsyncDisposableStack()
let world: DoctorWorld

beforeAll(async () => {
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  world = await openDoctorWorld(database.url, stack)
})
afterAll(() => stack.disposeAsync())

const answers: [status: number, advice: RegExp][] = [
  [401, /\| correct SERVICE_API_KEY$/],
  [403, /\| allow this request for SERVICE_API_KEY/],
  [404, /\| correct the path in SERVICE_URL/],
  [429, /\| wait, or use a plan that allows more requests$/],
  [503, /\| that server fails: contact its operator/],
]

test.each(answers)('a service that answers %i gets the advice for that', async (status, advice) => {
  await using service = await startRawService((_request, response) => response.writeHead(status).end('{}'))
  const [said, ...others] = await world.says('service', { SERVICE_URL: service.url })
  expect(others).toEqual([])
  expect(said).toMatch(advice)
})

async function withAuth(auth: string, more: Record<string, string>) {
  const path = join(world.folder, 'auth.yaml')
  await writeFile(path, `${settingsText}\nservice: { auth: ${auth} }`)
  const changes = { DEPOSITD_CONFIG: path, ...more }
  return [...(await world.says('service', changes)), ...(await world.says('key', changes))]
}

test('a service that verifies signatures is read by signed requests', async () => {
  const secret = 'the-signing-secret'
  await using gateway = await startRawService((request, response) => {
    void text(request).then(async (body) => {
      const { method = '', url = '', headers } = request
      const signed = `${String(headers['x-time'])}${method}${url}${body}`
      const isSigned = headers['x-sign'] === createHmac('sha512', secret).update(signed).digest('base64')
      if (!isSigned) return response.writeHead(401).end('{}')
      const answer = await fetch(`${world.environment.SERVICE_URL}${url}`, {
        method,
        headers: { 'x-api-key': readKey },
        ...(body !== '' && { body }),
      })
      return response.writeHead(answer.status).end(await answer.text())
    })
  })
  const section = `{ scheme: hmac, header: X-Sign, template: '{timestamp}{method}{path}{body}', algorithm: sha512,
    encoding: base64, timestamp: { header: X-Time, unit: iso }, headers: { X-Id: { secret: SERVICE_API_KEY } } }`
  expect(await withAuth(section, { SERVICE_URL: gateway.url, SERVICE_API_SECRET: secret })).toEqual([
    'ok | lists deposits: 0 on the first page',
    'ok | may read, not create',
  ])
})

test('a refused signature names both secrets, and the other causes', async () => {
  await using service = await startRawService((_request, response) => response.writeHead(401).end('{}'))
  const said = await withAuth("{ scheme: hmac, header: X-Sign, template: '{apiKey}' }", {
    SERVICE_URL: service.url,
    SERVICE_API_SECRET: 'the-signing-secret',
  })
  const names = 'SERVICE_API_KEY or SERVICE_API_SECRET'
  expect(said).toEqual([
    expect.stringMatching(new RegExp(`correct ${names}$`)),
    `fault | ${names} is refused: wrong or revoked, or the service expects another signature | compare service.auth with the service's documentation, and the clocks of both; or create a key of scope read there`,
  ])
})

test('a token file is named if it is missing, and if its token is refused', async () => {
  await using service = await startRawService((_request, response) => response.writeHead(401).end('{}'))
  const token = '{ scheme: token-file, path: token, headers: { X-Id: { secret: SERVICE_API_KEY } } }'
  const path = join(world.folder, 'token')
  expect(await withAuth(token, { SERVICE_URL: service.url })).toEqual([
    expect.stringMatching(
      /the token file cannot be read: ENOENT.* \| let the program .* or correct service\.auth\.path$/,
    ),
    expect.stringMatching(/^warning \| scope unknown/),
  ])
  await writeFile(path, 'the-token')
  expect(await withAuth(token, { SERVICE_URL: service.url })).toEqual([
    expect.stringMatching(`correct the token in ${path}$`),
    `fault | the token in ${path} is refused: wrong or revoked | let the program that renews the token write one of scope read`,
  ])
})

test('a page instead of JSON is another server, and 401 of a node is about its key', async () => {
  await using page = await startRawService((_request, response) => response.end('<html>'))
  await using locked = await startRawService((_request, response) => response.writeHead(401).end('no key'))
  const [service] = await world.says('service', { SERVICE_URL: page.url })
  expect(service).toMatch(/\| correct SERVICE_URL: another program answers there$/)
  const [other] = await world.says('chain base', { RPC_BASE: page.url })
  expect(other).toMatch(/\| correct RPC_BASE: another program answers there$/)
  const [node] = await world.says('chain base', { RPC_BASE: locked.url })
  expect(node).toMatch(/\| correct the key in RPC_BASE$/)
})

test('DNS is advised for a name that is not found, and for nothing else', async () => {
  const advice = async (SERVICE_URL: string) => (await world.says('service', { SERVICE_URL }))[0] ?? ''
  expect(await advice('https://service.invalid')).toMatch(
    /\| correct the host name in SERVICE_URL, or the DNS/,
  )
  expect(await advice('http://127.0.0.1:1')).toMatch(/\| start that server, or correct host and port in/)
  const tlsToPlain = (world.environment.SERVICE_URL ?? '').replace('http:', 'https:')
  expect(await advice(tlsToPlain)).toMatch(/\| correct the certificate of that server, or the host name in/)
})

test('a port whose program takes connections and does not answer may be a busy daemon', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(Number(world.environment.OPS_PORT), loopback, resolve))
  const [said] = await world.says('port ops')
  silent.close()
  expect(said).toMatch(/^warning \| 127\.0\.0\.1:\d+ is in use, and did not answer .*: a busy depositd, or/)
})

test('a server that never answers is asked once and given up, and progress says what is waited for', async () => {
  const asked: string[] = []
  await using silent = await startRawService(({ method }) => void asked.push(method ?? ''))
  const { out, err } = await world.run({ SERVICE_URL: silent.url, RPC_BASE: silent.url })
  expect(out).toMatch(/^service +fault .* check the load of that server/m)
  expect(out).toMatch(/^chain base +fault .* check the load of that server/m)
  // The list of deposits; what the key may do; the identity of the chain.
  expect(asked.toSorted()).toEqual(['GET', 'POST', 'POST'])
  expect(err).toMatch(
    /^checking database, queue, service, chains, history, wallets, values, ports, notifications\n/,
  )
  expect(err).toMatch(/^database checked after \d+\.\d s; waiting for .*service/m)
})

test('no setting is blamed that was not made', async () => {
  const { DEPOSITD_CONFIG: _, RPC_BASE: node = '', ...rest } = world.environment
  const { out } = await runCommand('doctor', {
    ...rest,
    DATABASE_URL: 'postgres://x@127.0.0.1:1/x',
    RPC_MAINNET: node,
  })
  expect(out).toMatch(/^chain mainnet +fault .* set RPC_MAINNET to nodes of that chain *$/m)
  expect(out).toMatch(/^queue +fault .* fix what the check database reports: without QUEUE_URL/m)
  expect(out).not.toMatch(/DEPOSITD_CONFIG/)
})
