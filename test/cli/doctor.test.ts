import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { probeScope } from '../../src/provider/probe-scope.ts'
import { readKey, writeKey } from '../service/fixtures.ts'
import { type OpenApi, openApi } from '../service/http/open-api.ts'
import { runCommand } from '../support/command.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { type RawService, startRawService } from '../support/raw-service.ts'

let api: OpenApi
let node: RawService
let database: Awaited<ReturnType<typeof emptyDatabase>>
let folder: string
let environment: Record<string, string>

beforeAll(async () => {
  api = await openApi()
  database = await emptyDatabase()
  node = await startRawService((request, response) => {
    void text(request).then((body) => {
      const { id } = JSON.parse(body) as { id: number }
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x2105' }))
    })
  })
  folder = await mkdtemp(join(tmpdir(), 'depositd-'))
  const path = join(folder, 'settings.yaml')
  writeFileSync(
    path,
    'networks: [{ name: base, family: evm, chainId: 8453, assets: [{ symbol: ETH, contract: native, decimals: 18 }] }]',
  )
  environment = {
    DATABASE_URL: database.url,
    SERVICE_URL: api.url,
    SERVICE_API_KEY: readKey,
    WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    RPC_BASE: node.url,
    DEPOSITD_CONFIG: path,
  }
})
afterAll(async () => {
  await node[Symbol.asyncDispose]()
  await api.close()
  await database.drop()
  await rm(folder, { recursive: true })
})

const doctor = (changes: Record<string, string> = {}, options = '') =>
  runCommand(`doctor${options}`, { ...environment, ...changes })

test('where all is well, each check says so', async () => {
  const { status, out, err } = await doctor()
  expect(err).toBe('')
  expect(out).toMatchInlineSnapshot(`
    "CHECK       STATE  SAYS
    settings    ok     can be read
    database    ok     answers
    queue       ok     answers
    service     ok     lists deposits: 0 on the first page
    key         ok     may read and not create
    webhooks    ok     are verified by standard-webhooks
    chain base  ok     is the chain of the settings, and so are its assets
    "
  `)
  expect(status).toBe(0)
})

test('a key that may create is warned of, which is no bad news', async () => {
  const { status, out } = await doctor({ SERVICE_API_KEY: writeKey }, ' --json')
  const findings = JSON.parse(out) as { check: string; state: string; says: string }[]
  expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
    {
      check: 'key',
      state: 'warning',
      says: expect.stringMatching(/^may create; give the daemon a key of scope read/),
    },
  ])
  expect(status).toBe(0)
})

test.each<[string, Record<string, string>, RegExp]>([
  ['a key that is not known', { SERVICE_API_KEY: 'wrong' }, /^key +fault +SERVICE_API_KEY is refused/m],
  [
    'a service that does not answer',
    { SERVICE_URL: 'http://127.0.0.1:1' },
    /^service +fault +GET \/v1\/proxies\/deposits: /m,
  ],
  [
    'a database that does not answer',
    { DATABASE_URL: 'postgres://x:hunter2@127.0.0.1:1/x', QUEUE_URL: 'redis://127.0.0.1:1' },
    /^database +fault +/m,
  ],
  ['a node that does not answer', { RPC_BASE: 'http://127.0.0.1:1' }, /^chain base +fault +/m],
  [
    'a secret that does not fit the scheme',
    { WEBHOOK_SECRETS: 'hunter2' },
    /^webhooks +fault +WEBHOOK_SECRETS: secret 1 must be whsec_/m,
  ],
  [
    'a secret that has ended',
    { WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw not-after=2020-01-01T00:00:00Z' },
    /^webhooks +fault +WEBHOOK_SECRETS: every secret has ended/m,
  ],
  ['a setting that is missing', { SERVICE_URL: '' }, /^settings +fault +SERVICE_URL is empty$/m],
])('%s is a fault, and bad news', async (_what, changes, line) => {
  const { status, out, err } = await doctor(changes)
  expect(out).toMatch(line)
  expect(out + err).not.toContain('hunter2')
  expect(status).toBe(1)
})

test('webhooks that are not signed are warned of', async () => {
  const { WEBHOOK_SECRETS: _, ...rest } = environment
  const { out } = await runCommand('doctor', { ...rest, WEBHOOK_SCHEME: 'none' })
  expect(out).toMatch(/^webhooks +warning +are not signed/m)
})

test('nothing is said of a key where the body is looked at first, and nothing is created', async () => {
  await using service = await startRawService((_request, response) => response.writeHead(400).end('no JSON'))
  expect(await probeScope({ url: service.url, apiKey: 'key' }, '/v1/channels')).toBe('unknown')
  expect(await probeScope({ url: api.url, apiKey: writeKey }, '/v1/channels')).toBe('write')
  const response = await fetch(`${api.url}/v1/channels`, { headers: { 'x-api-key': readKey } })
  expect(await response.json()).toMatchObject({ data: [] })
})
