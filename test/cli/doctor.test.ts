import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AssetKey, NetworkName } from '../../src/core/asset.ts'
import { probeScope } from '../../src/provider/probe-scope.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { readKey, writeKey } from '../service/fixtures.ts'
import { type OpenApi, openApi } from '../service/http/open-api.ts'
import { makeDeposit, openBooks } from '../support/books.ts'
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
  node = await startNode()
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

/** A node of Base, all of whose tokens have six decimals. */
function startNode(): Promise<RawService> {
  const hash = `0x${'1'.padStart(64, '0')}`
  const block = { number: '0x1', hash, parentHash: hash, timestamp: '0x1', logsBloom: '0x', transactions: [] }
  const answers: Record<string, unknown> = {
    eth_chainId: '0x2105',
    eth_getBlockByNumber: block,
    eth_call: `0x${'6'.padStart(64, '0')}`,
  }
  return startRawService((request, response) => {
    void text(request).then((body) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? null }))
    })
  })
}

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

const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** Settings with USDC on Base. */
async function withToken(decimals: string, work: (changes: Record<string, string>) => Promise<void>) {
  const path = join(folder, 'token.yaml')
  writeFileSync(
    path,
    `networks: [{ name: base, family: evm, chainId: 8453, assets: [{ symbol: USDC, contract: "${usdc}" ${decimals}}] }]`,
  )
  await work({ DEPOSITD_CONFIG: path })
}

test('decimals that the settings leave to the chain are read and told', async () => {
  await withToken('', async (changes) => {
    const { out, status } = await doctor(changes)
    expect(out).toMatch(/^chain base +ok .*; USDC has 6 decimals, pinned at the start$/m)
    expect(status).toBe(0)
  })
})

test('decimals that are not those of the chain, or not those that amounts were kept by, are faults', async () => {
  await using books = await openBooks()
  await pinUsdc(books.url, 18)
  await withToken(', decimals: 7', async (changes) => {
    const { out, status } = await doctor({ ...changes, DATABASE_URL: books.url })
    expect(out).toMatch(
      /^chain base +fault +asset base\/0x\w+ has 7 decimals in the settings and 18 in the database$/m,
    )
    expect(out).toMatch(/^chain base +fault +.*expected decimals 7, found 6/m)
    expect(status).toBe(1)
  })
  await withToken('', async (changes) => {
    const { out } = await doctor({ ...changes, DATABASE_URL: books.url })
    expect(out).toMatch(/^chain base +fault +.*expected decimals 18, found 6/m)
  })
})

/** As a number that a deposit was kept by. */
async function pinUsdc(url: string, decimals: number): Promise<void> {
  const db = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'test owner' })
  const key = `base/${usdc}` as AssetKey
  await pinAssets(db, [{ key, network: 'base' as NetworkName, symbol: 'USDC', decimals }])
  const id = await makeDeposit(db, 'base/0x1/0')
  await db.updateTable('deposit').set({ asset: key }).where('id', '=', id).execute()
  await db.destroy()
}

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
