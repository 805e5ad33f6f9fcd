import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { assetCode } from '../../../src/core/asset.ts'
import { type SandboxNetwork, startChains } from '../../../src/sandbox/chains.ts'
import { freePort } from '../../../src/sandbox/free-port.ts'
import { httpCall } from '../../conformance/http-call.ts'
import { readText } from '../../docs/pages.ts'
import { spawnProgram } from '../../support/embedded-program.ts'
import { makeFolder } from '../../support/make-folder.ts'
import { emptyDatabase, type TestDatabase } from '../../support/postgres.ts'
import { depositd, type Spoken } from '../../support/shell.ts'
import { until } from '../../support/until.ts'

/** The deposit service on a database and nodes of somebody else, as an operator starts it. */

const withinMs = 120_000
const seed = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const fixtures = 'test/service/http/fixtures'

const stack = new AsyncDisposableStack()
let folder: string
let database: TestDatabase
let networks: readonly SandboxNetwork[]
let environment: Record<string, string>

beforeAll(async () => {
  folder = makeFolder('depositd-own-')
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  database = await emptyDatabase()
  stack.defer(() => database.drop())
  const log = pino({ level: 'silent' })
  const names = ['mainnet', 'base']
  const chains = await startChains({ folder: join(folder, 'chains'), names, blockMs: 200, log })
  stack.defer(() => chains.stop())
  networks = chains.networks
  environment = await settings()
})
afterAll(() => stack.disposeAsync())

async function settings(): Promise<Record<string, string>> {
  await mkdir(join(folder, 'secrets'))
  const place = (name: string): string => join(folder, 'secrets', name)
  await writeFile(place('seed'), `${seed}\n`)
  await writeFile(place('cert'), readText(`${fixtures}/localhost.pem`))
  await writeFile(place('key'), readText(`${fixtures}/localhost-key.pem`))
  const listed = networks.map(({ name, family, chainId, assets }) => ({
    name,
    family,
    chainId,
    assets: assets.map(({ key, symbol, decimals }) => ({ symbol, contract: assetCode(key), decimals })),
  }))
  await writeFile(place('service.yaml'), stringify({ networks: listed, pollEvery: '200ms' }))
  await writeFile(join(folder, 'daemons.yaml'), stringify({ networks: listed.map(asForDaemon) }))
  return {
    SERVICE_DATABASE_URL: database.url,
    SERVICE_SEED_FILE: place('seed'),
    SERVICE_TLS_CERT_FILE: place('cert'),
    SERVICE_TLS_KEY_FILE: place('key'),
    SERVICE_CONFIG: place('service.yaml'),
    SERVICE_PORT: String(await freePort()),
    ...Object.fromEntries(
      networks.map(({ name, rpcUrls }) => [`RPC_${name.toUpperCase()}`, rpcUrls[0] ?? '']),
    ),
  }
}

/** As the daemon's file may have it: with what the daemon alone uses, and with decimals left to the chain. */
function asForDaemon<Listed extends { assets: { symbol: string; contract: string }[] }>(listed: Listed) {
  const assets = listed.assets.map(({ symbol, contract }) => ({ symbol, contract }))
  const reading = { startHeight: 1, quorum: 2, finality: { tag: 'safe' }, traces: 'always' }
  return { ...listed, ...reading, assets }
}

/** Starts it where it is expected to refuse. */
function refused(changes: Record<string, string>): Promise<Spoken> {
  return depositd(['service'], { folder, environment: { ...environment, ...changes } })
}

test("it serves with the networks of the daemon's file, and asks the chain for decimals", {
  timeout: withinMs,
}, async () => {
  const program = spawnProgram(folder, ['service'], {
    ...environment,
    SERVICE_CONFIG: join(folder, 'daemons.yaml'),
  })
  await until('it is up', () => /"msg":"started"/.test(program.output()) || null, withinMs)
  expect(program.output()).toContain('"networks":["mainnet","base"]')
  expect(await program.end('SIGTERM')).toBe(0)
})

test('it serves over TLS with a key that was made beside it, logs no secret, and ends when asked', {
  timeout: withinMs,
}, async () => {
  const program = spawnProgram(folder, ['service'], environment)
  const started = await until('it is up', () => /"msg":"started"/.test(program.output()) || null, withinMs)
  expect(started).toBe(true)
  const words = ['service', 'keys', 'create', '--name', 'own', '--scope', 'write']
  const key = (await depositd(words, { folder, environment })).out.trim()
  const answer = await httpCall({
    url: `https://127.0.0.1:${environment['SERVICE_PORT']}/v1/stable-wallets`,
    method: 'POST',
    headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
    body: '{"id":"savings"}',
    ca: readText(`${fixtures}/localhost.pem`),
  })
  expect(answer.status).toBe(201)
  expect(await program.end('SIGTERM')).toBe(0)
  for (const line of program.output().trim().split('\n'))
    expect(() => JSON.parse(line) as unknown).not.toThrow()
  expect(program.output()).toContain('"paysFrom":{"evm":"0x')
  for (const secret of [seed, 'legal winner', key, new URL(database.url).password, 'PRIVATE KEY'])
    expect(program.output()).not.toContain(secret)
})

test('the port can be given on the command line, and one that is taken is named', async () => {
  const server = createServer()
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { status, err } = await refused({ SERVICE_PORT: String(port) })
  expect({ status, err }).toEqual({
    status: 2,
    err: `depositd: port ${port} is taken; set SERVICE_HOST and SERVICE_PORT\n`,
  })
  const asked = await depositd(['service', '--port', String(port)], { folder, environment })
  expect(asked.err).toContain(`port ${port} is taken; use another --port`)
  server.close()
})

test('another seed than that of the database is refused', async () => {
  const { SERVICE_SEED_FILE: _, ...others } = environment
  const { status, err } = await depositd(['service'], {
    folder,
    environment: { ...others, SERVICE_SEED: 'cd'.repeat(32) },
  })
  expect(status).toBe(2)
  expect(err).toBe(
    'depositd: the database of the service was created with another seed; use that seed, or another database\n',
  )
})

test.each([
  [
    'a node of another network',
    () => networks[0]?.rpcUrls[0] ?? '',
    { status: 2, message: /^depositd: the RPC of base serves chain 1, not 8453; check RPC_BASE\n$/ },
  ],
  [
    'no node',
    () => 'http://127.0.0.1:1/secret-path',
    { status: 4, message: /^depositd: reading base: .*; check RPC_BASE\n$/ },
  ],
])('%s is named with its setting', async (_what, url, { status: expected, message }) => {
  const { status, out, err } = await refused({ RPC_BASE: url() })
  expect({ status, out }).toEqual({ status: expected, out: '' })
  expect(err).toMatch(message)
  expect(err).not.toContain('secret-path')
  expect(err.trim().split('\n')).toHaveLength(1)
})

test('a database that is not there is named without its password', async () => {
  const { status, err } = await refused({ SERVICE_DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/x' })
  expect(status).toBe(4)
  expect(err).toBe("depositd: reaching the service's database: connect ECONNREFUSED 127.0.0.1:1\n")
})

test('every fault is named at once, those of the service among them, on a line of its own', async () => {
  await writeFile(join(folder, 'bad.yaml'), 'quotes: { prices: { ETH: "1" } }\n')
  const { status, err } = await refused({
    SERVICE_CONFIG: join(folder, 'bad.yaml'),
    SERVICE_HOST: 'localhost',
    SERVICE_SEED_FILE: join(folder, 'bad.yaml'),
    SERVICE_WEBHOOK_URL: 'https://hooks.example',
    SERVICE_PROT: '1',
  })
  expect(status).toBe(2)
  const lines = err.trim().split('\n')
  for (const named of ['ETH = 1', 'host localhost', 'SERVICE_SEED', 'SERVICE_WEBHOOK_SECRET', 'SERVICE_PROT'])
    expect(
      lines.filter((line) => line.includes(named)),
      named,
    ).not.toEqual([])
  expect(lines).toHaveLength(5)
})

test('a node alone may be meant for the daemon, and what to do is said', async () => {
  const { status, err } = await depositd(['service'], { folder, environment: { RPC_BASE: 'http://x' } })
  expect({ status, err }).toEqual({
    status: 2,
    err: 'depositd: SERVICE_DATABASE_URL and SERVICE_SEED are missing although RPC_BASE is set; set them, or unset the others to run on local chains\n',
  })
})
