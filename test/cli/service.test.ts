import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { runCommand } from '../support/command.ts'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { processesIn } from '../support/processes-in.ts'
import { curlInstalled, depositd, type Spoken, shell } from '../support/shell.ts'
import { until } from '../support/until.ts'

type Channel = { id: string; addresses: { network: string; address: string }[] }

const withinMs = 60_000
const recipient = '0x00000000000000000000000000000000000000ff'

let folder: string
let program: EmbeddedProgram

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd service '))
  program = await start()
})

afterAll(async () => {
  await program.end('SIGINT')
  await rm(folder, { recursive: true, force: true })
})

/** Starts the service as a person would, and returns once it has said everything. */
async function start(...words: string[]): Promise<EmbeddedProgram> {
  const started = spawnProgram(folder, ['service', ...words])
  await until(
    'the service is up',
    () => {
      if (started.output().includes('depositd: ')) throw new Error(started.output())
      return started.output().includes('Ctrl-C stops everything') || null
    },
    withinMs,
  )
  return started
}

function serviceUrl(): string {
  return /^ {2}service +(\S+)/m.exec(program.output())?.[1] ?? ''
}

async function key(name: 'read' | 'write'): Promise<string> {
  return (await shell(`cat .depositd/${name}-key`, { folder })).out.trim()
}

async function call(path: string, body?: object): Promise<Response> {
  const headers = { 'X-API-KEY': await key(body === undefined ? 'read' : 'write') }
  if (body === undefined) return fetch(serviceUrl() + path, { headers })
  const json = { ...headers, 'content-type': 'application/json' }
  return fetch(serviceUrl() + path, { method: 'POST', headers: json, body: JSON.stringify(body) })
}

async function channel(id: string): Promise<Channel> {
  const rule = { forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }
  return (await (await call('/v1/channels', { id, ...rule })).json()) as Channel
}

function addressOn(network: string, { addresses }: Channel): string {
  return addresses.find((one) => one.network === network)?.address ?? ''
}

async function untilSettled(transaction: string): Promise<DepositRecord> {
  const ask = async (): Promise<DepositRecord | null> => {
    const answer = await call(`/v1/proxies/deposits?transaction=${transaction}`)
    const { data } = (await answer.json()) as { data: DepositRecord[] }
    return data.find(({ status }) => status === 'settled') ?? null
  }
  return until('the deposit is settled', ask, withinMs)
}

function pay(network: string, asset: string, more: readonly string[]): Promise<Spoken> {
  return depositd(['service', 'pay', '--network', network, '--asset', asset, ...more], { folder })
}

test('it shows every part, and where its keys are, which only their owner can read', async () => {
  for (const part of ['postgres', 'mainnet', 'base', 'arbitrum', 'solana', 'service'])
    expect(program.output()).toMatch(new RegExp(`^  ${part} +\\S`, 'm'))
  for (const name of ['write', 'read']) {
    const [, path = ''] = new RegExp(`^  ${name} +(.+-key)$`, 'm').exec(program.output()) ?? []
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  }
  expect(program.output()).not.toContain(await key('write'))
})

describe.skipIf(!curlInstalled())('with curl', () => {
  test('the three lines that it shows work when they are pasted', async () => {
    const lines = program.output().match(/^ {2}curl .+$/gm) ?? []
    expect(lines).toHaveLength(3)
    expect(program.output()).not.toContain('/faults')
    const answers: unknown[] = []
    for (const line of lines) {
      const { status, out, err } = await shell(line, { folder: tmpdir() })
      expect({ status, err }).toEqual({ status: 0, err: '' })
      answers.push(JSON.parse(out))
    }
    expect(answers).toEqual([
      expect.objectContaining({ id: 'shop', forward_network: 'base' }),
      { stable_wallet: expect.objectContaining({ id: 'savings' }) },
      { data: [], next_cursor: null },
    ])
  })
})

test.each([
  ['mainnet', 'ETH', '0.01'],
  ['solana', 'USDT', '7.5'],
])('a payment on %s in %s from the shell is forwarded', { timeout: withinMs }, async (...payment) => {
  const [network, asset, amount] = payment
  const held = Number((await balance()).out)
  const to = addressOn(network, await channel('shop'))
  const { status, out, err } = await pay(network, asset, ['--amount', amount, '--to', to])
  expect(status).toBe(0)
  expect(err).toMatch(/^sent .+\nin (block|slot) \d+; final soon\n$/)
  const settled = await untilSettled(out.trim())
  expect(settled.source).toMatchObject({ network, asset, address: to })
  const delivered = Number(settled.destination.amount) / 1e6
  expect(delivered).toBeGreaterThan(0)
  expect(Number((await balance()).out)).toBeCloseTo(held + delivered, 6)
})

function balance(): Promise<Spoken> {
  const words = ['service', 'balance', '--network', 'base', '--asset', 'USDC', '--address', recipient]
  return depositd(words, { folder })
}

test('payments made at once all arrive, each as a transaction of its own', {
  timeout: withinMs,
}, async () => {
  const to = addressOn('arbitrum', await channel('shop'))
  const paid = await Promise.all(
    ['0.001', '0.002', '0.003', '0.004'].map((amount) =>
      pay('arbitrum', 'ETH', ['--amount', amount, '--to', to, '--json']),
    ),
  )
  const documents = paid.map(({ out }) => JSON.parse(out) as { transaction: string; amount: string })
  expect(new Set(documents.map(({ transaction }) => transaction)).size).toBe(4)
  expect(documents.map((one) => one.amount)).toContain('0.004000000000000000')
  for (const { transaction } of documents) await untilSettled(transaction)
})

const address = '0x00000000000000000000000000000000000000ff'
test.each([
  [['bse', 'ETH', '1', address], '--network does not know "bse"; use mainnet, base, arbitrum, solana'],
  [['base', 'SOL', '1', address], '--asset does not know "SOL"; use ETH, USDC, USDT'],
  [['base', 'ETH', '1,5', address], '--amount is no amount of ETH: "1,5"; give a plain decimal above 0'],
  [['base', 'USDC', '0', address], '--amount is no amount of USDC: "0"; give a plain decimal above 0'],
  [['base', 'USDC', '1.0000001', address], 'with at most 6 digits after the point'],
  [['base', 'USDC', '1', 'shop'], '--to is no address on base: "shop"; give 0x and 40 hexadecimal digits'],
  [['solana', 'SOL', '1', address], '--to is no address on solana: '],
  [['base', 'ETH', '10000000', address], '--amount is more than the faucet on base has; give less than '],
])('a payment of %j is wrong use, and told how to mend it', async ([network, asset, amount, to], message) => {
  const before = process.cwd()
  process.chdir(folder)
  onTestFinished(() => process.chdir(before))
  const line = `service pay --network ${network} --asset ${asset} --amount ${amount} --to ${to}`
  const { status, out, err } = await runCommand(line, {})
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(`depositd: ${message.startsWith('with') ? '' : message}`)
  expect(err).toContain(message)
  expect(err.trim().split('\n')).toHaveLength(1)
})

test('where no service runs, a payment says how to start one', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'depositd-nothing-'))
  const words = ['service', 'pay', '--network', 'base', '--asset', 'ETH', '--amount', '1', '--to', address]
  const { status, err } = await depositd(words, { folder: empty })
  await rm(empty, { recursive: true })
  expect(status).toBe(2)
  expect(err).toBe(
    'depositd: no deposit service runs on local chains in .depositd/; start one in this folder with "depositd service"\n',
  )
})

test('a key that is created in the same folder calls the running service', async () => {
  const { status, out } = await depositd(['service', 'keys', 'create', '--name', 'x', '--scope', 'read'], {
    folder,
  })
  expect(status).toBe(0)
  const headers = { 'X-API-KEY': out.trim() }
  expect((await fetch(`${serviceUrl()}/v1/proxies/deposits`, { headers })).status).toBe(200)
})

test('a second start, of it or of everything, is refused with the address of the first', async () => {
  const again = await depositd(['service'], { folder })
  expect(again.status).toBe(2)
  expect(again.err).toBe(
    `depositd: process ${program.pid} is already running in .depositd, with a deposit service at ${serviceUrl()}; ` +
      `use that, end it (kill ${program.pid}) or start in another folder\n`,
  )
  const everything = await depositd(['start'], { folder })
  expect(everything.status).toBe(2)
  expect(everything.err).toContain(`process ${program.pid} is already running in .depositd`)
})

test.each([
  ['taken', () => new URL(serviceUrl()).port, 'port \\d+ is taken; give another to --port, or leave it out'],
  ['no port', () => '65536', '--port is "65536"; give a whole number from 1 to 65535'],
])('a port that is %s is refused before anything is started', async (_what, port, message) => {
  const { status, out, err } = await depositd(['service', '--port', port()], { folder: tmpdir() })
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toMatch(new RegExp(`^depositd: ${message}`))
})

test('killed and started again, it knows what it knew and settles what was under way', {
  timeout: 120_000,
}, async () => {
  const shop = await channel('shop')
  const words = ['--amount', '3', '--to', addressOn('base', shop)]
  const { out } = await pay('base', 'USDC', words)
  await program.end('SIGKILL')
  program = await start('--port', new URL(serviceUrl()).port)
  expect(await channel('shop')).toEqual(shop)
  await untilSettled(out.trim())
})

test('Ctrl-C ends it whole within five seconds; the next start goes on', { timeout: 120_000 }, async () => {
  const shop = await channel('shop')
  const askedAt = Date.now()
  expect(await program.end('SIGINT')).toBe(0)
  expect(Date.now() - askedAt).toBeLessThan(5000)
  expect(program.output()).toMatch(/\nstopping\nstopped; the next start goes on from here\n$/)
  expect(await processesIn(folder)).toEqual([])
  program = await start()
  expect(await channel('shop')).toEqual(shop)
})

test('a port for faults without leave to make any is wrong use', async () => {
  const { status, err } = await runCommand('service --admin-port 1234', {})
  expect({ status, err }).toEqual({
    status: 2,
    err: 'depositd: --admin-port is for faults; give --faults too\n',
  })
})

test('with --json it prints one document once it is up, and nothing else', { timeout: 120_000 }, async () => {
  const other = await mkdtemp(join(tmpdir(), 'depositd-json-'))
  const silent = spawnProgram(other, ['service', '--json', '--faults'])
  await until('it is up', () => silent.output().endsWith('}\n') || null, withinMs)
  const { faultsUrl } = JSON.parse(silent.output()) as { faultsUrl: string }
  const body = JSON.stringify({ dropWebhookRate: 1 })
  const json = { 'content-type': 'application/json' }
  expect((await fetch(faultsUrl, { method: 'PATCH', headers: json, body })).status).toBe(200)
  expect(await silent.end('SIGTERM')).toBe(0)
  await rm(other, { recursive: true, force: true })
  expect(JSON.parse(silent.output())).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    keyFiles: { write: join(other, '.depositd/write-key'), read: join(other, '.depositd/read-key') },
    networks: expect.arrayContaining([expect.objectContaining({ name: 'solana' })]),
    pid: silent.pid,
  })
})
