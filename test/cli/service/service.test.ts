import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../src/sandbox/free-port.ts'
import { runCommand } from '../../support/command.ts'
import { spawnProgram } from '../../support/embedded-program.ts'
import { makeFolder } from '../../support/make-folder.ts'
import { processesIn } from '../../support/processes-in.ts'
import { curlInstalled, depositd, type Spoken, shell } from '../../support/shell.ts'
import { until } from '../../support/until.ts'
import {
  addressOn,
  makeChannel,
  pay,
  recipient,
  type SandboxService,
  startSandbox,
  withinMs,
} from '../sandbox-service.ts'

/** The deposit service on local chains, as an integrator meets it in a shell; then it is killed, stopped and started. */

let folder: string
let program: SandboxService

beforeAll(async () => {
  folder = makeFolder('depositd service ')
  program = await startSandbox(folder)
})

afterAll(async () => {
  await program.end('SIGINT')
  await rm(folder, { recursive: true, force: true })
})

test('it shows every part, and where its keys are, which only their owner can read', async () => {
  for (const part of ['postgres', 'mainnet', 'base', 'arbitrum', 'solana', 'service'])
    expect(program.output()).toMatch(new RegExp(`^  ${part} +\\S`, 'm'))
  for (const name of ['write', 'read']) {
    const [, path = ''] = new RegExp(`^  ${name} +(.+-key)$`, 'm').exec(program.output()) ?? []
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  }
  expect(program.output()).not.toContain(await program.key('write'))
})

describe.skipIf(!curlInstalled())('with curl', () => {
  test('the lines that it shows work when they are pasted', { timeout: withinMs }, async () => {
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
    const [, words = ''] = /^ {2}bin\/depositd (.+)$/m.exec(program.output()) ?? []
    const paid = await depositd(words.split(' '), { folder })
    expect((await program.untilSettled(paid.out.trim())).owner.id).toBe('shop')
  })
})

test.each([['solana', 'USDT', '7.5']])(
  'a payment on %s in %s from the shell is forwarded',
  { timeout: withinMs },
  async (...payment) => {
    const [network, asset, amount] = payment
    const held = Number((await balance()).out)
    const to = addressOn(network, await program.channel('shop'))
    const { status, out, err } = await pay(folder, { network, asset, amount, to })
    expect(status).toBe(0)
    expect(err).toMatch(/^sent .+\nin slot \d+; final soon\n$/)
    const settled = await program.untilSettled(out.trim())
    expect(settled.source).toMatchObject({ network, asset, address: to })
    const delivered = Number(settled.destination.amount) / 1e6
    expect(delivered).toBeGreaterThan(0)
    expect(Number((await balance()).out)).toBeCloseTo(held + delivered, 6)
  },
)

function balance(): Promise<Spoken> {
  const words = ['service', 'balance', '--network', 'base', '--asset', 'USDC', '--address', recipient]
  return depositd(words, { folder })
}

test('a payment is made to a channel or a wallet by its id', { timeout: withinMs }, async () => {
  const { addresses } = await program.channel('named')
  const payment = { network: 'base', asset: 'USDC', amount: '2', to: 'named' }
  const { out } = await pay(folder, payment, '--json')
  expect(JSON.parse(out)).toMatchObject({ to: addresses.find(({ network }) => network === 'base')?.address })
  const headers = { 'X-API-KEY': await program.key('write'), 'content-type': 'application/json' }
  const wanted = { method: 'POST', headers, body: '{"id":"named"}' }
  expect((await fetch(`${program.url}/v1/stable-wallets`, wanted)).status).toBe(201)
  const { status, err } = await pay(folder, payment)
  expect(status).toBe(2)
  expect(err).toBe(
    'depositd: --to is both a channel and a StableWallet: "named"; use the deposit address instead\n',
  )
})

test('payments made at once all arrive, each as a transaction of its own', {
  timeout: withinMs,
}, async () => {
  const to = addressOn('arbitrum', await program.channel('shop'))
  const paid = await Promise.all(
    ['0.001', '0.002', '0.003', '0.004'].map((amount) =>
      pay(folder, { network: 'arbitrum', asset: 'ETH', amount, to }, '--json'),
    ),
  )
  const documents = paid.map(({ out }) => JSON.parse(out) as { transaction: string; amount: string })
  expect(new Set(documents.map(({ transaction }) => transaction)).size).toBe(4)
  expect(documents).toContainEqual(
    expect.objectContaining({
      amount: '0.004000000000000000',
      amount_base: '4000000000000000',
      asset_symbol: 'ETH',
      asset: 'arbitrum/native',
    }),
  )
  for (const { transaction } of documents) await program.untilSettled(transaction)
})

const address = '0x00000000000000000000000000000000000000ff'
test.each([
  [
    ['bse', 'ETH', '1', address],
    '--network is "bse"; did you mean base? use mainnet, base, arbitrum, solana',
  ],
  [['base', 'SOL', '1', address], '--asset is "SOL"; use ETH, USDC, USDT'],
  [['base', 'ETH', '1,5', address], '--amount is not an amount of ETH: "1,5"; use a decimal number above 0'],
  [['base', 'USDC', '0', address], '--amount is not an amount of USDC: "0"; use a decimal number above 0'],
  [['base', 'USDC', '1.0000001', address], 'with at most 6 decimals'],
  [
    ['base', 'USDC', '1', 'nobody'],
    '--to is neither an address on base nor an id: "nobody"; give 0x and 40 hexadecimal digits, or the id of a channel or StableWallet',
  ],
  [['solana', 'SOL', '1', address], '--to is neither an address on solana nor an id: '],
  [['base', 'ETH', '10000000', address], '--amount exceeds the faucet on base; use at most '],
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
  const empty = makeFolder('depositd-nothing-')
  const words = ['service', 'pay', '--network', 'base', '--asset', 'ETH', '--amount', '1', '--to', address]
  const { status, err } = await depositd(words, { folder: empty })
  await rm(empty, { recursive: true })
  expect(status).toBe(4)
  expect(err).toBe(
    'depositd: reaching the deposit service of this folder: it does not run; start it with "bin/depositd service"\n',
  )
})

test('each step of a deposit is shown as it happens', { timeout: withinMs }, async () => {
  await program.channel('shown')
  const { out, err } = await pay(folder, { network: 'arbitrum', asset: 'USDT', amount: '4', to: 'shown' })
  expect(err).toMatch(/^sent .+\nin block \d+; final soon\n$/)
  const { id } = await program.untilSettled(out.trim())
  const lines = await until('its last step is shown', () => {
    const shown = program.output().match(new RegExp(`^.+\\(${id}\\)$`, 'gm')) ?? []
    return shown.some((line) => line.includes('settled')) ? shown : null
  })
  const steps = lines.map((line) => line.slice(10, 20).trim())
  expect(steps).toEqual(['detected', 'confirmed', 'converting', 'forwarded', 'settled'])
  expect(lines.at(-1)).toMatch(
    /^\d\d:\d\d:\d\d {2}settled {5}4 USDT on arbitrum for shown, 3\.994002 USDC on base \(dep_/,
  )
})

test('a key that is created in the same folder calls the running service', async () => {
  const { status, out } = await depositd(['service', 'keys', 'create', '--name', 'x', '--scope', 'read'], {
    folder,
  })
  expect(status).toBe(0)
  const headers = { 'X-API-KEY': out.trim() }
  expect((await fetch(`${program.url}/v1/proxies/deposits`, { headers })).status).toBe(200)
})

test('a second start, of it or of everything, is refused with the address of the first', async () => {
  const again = await depositd(['service'], { folder })
  expect(again.status).toBe(2)
  expect(again.err).toBe(
    `depositd: process ${program.pid} is already running in .depositd, with a deposit service at ${program.url}; ` +
      `use that, end it (kill ${program.pid}) or start in another folder\n`,
  )
  const everything = await depositd(['start'], { folder })
  expect(everything.status).toBe(2)
  expect(everything.err).toContain(`process ${program.pid} is already running in .depositd`)
})

test.each([
  [
    'taken',
    () => new URL(program.url).port,
    'port \\d+ is taken; use another --port, or omit it to get a free one',
  ],
  ['no port', () => '65536', '--port is "65536"; give a whole number from 1 to 65535'],
])('a port that is %s is refused before anything is started', async (_what, port, message) => {
  const { status, out, err } = await depositd(['service', '--port', port()], { folder: tmpdir() })
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toMatch(new RegExp(`^depositd: ${message}`))
})

test('killed and started again, it knows what it knew and settles what was under way', {
  timeout: 300_000,
}, async () => {
  const shop = await program.channel('shop')
  const payment = { network: 'base', asset: 'USDC', amount: '3', to: addressOn('base', shop) }
  const { out } = await pay(folder, payment)
  await program.end('SIGKILL')
  program = await startSandbox(folder, '--port', new URL(program.url).port)
  expect(await program.channel('shop')).toEqual(shop)
  await program.untilSettled(out.trim())
})

test('Ctrl-C ends it whole; the next start goes on, and with --json prints one document and nothing else', {
  timeout: 300_000,
}, async () => {
  const shop = await program.channel('shop')
  expect(await program.end('SIGINT')).toBe(0)
  // Between the two lines stands what happened since the last look at the database.
  expect(program.output()).toMatch(/\nstopping\n(\d\d:.*\n)*stopped; the next start continues from here\n$/)
  expect(await processesIn(folder)).toEqual([])
  const silent = spawnProgram(folder, ['service', '--json', '--admin-port', String(await freePort())])
  program = { ...program, ...silent }
  await until('it is up', () => silent.output().endsWith('}\n') || null, withinMs)
  const { url, faults_url: faultsUrl } = JSON.parse(silent.output()) as { url: string; faults_url: string }
  program = { ...program, ...silent, url }
  expect(await makeChannel(url, await program.key('write'), 'shop')).toEqual(shop)
  const body = JSON.stringify({ dropWebhookRate: 1 })
  const json = { 'content-type': 'application/json' }
  expect((await fetch(faultsUrl, { method: 'PATCH', headers: json, body })).status).toBe(200)
  expect(await silent.end('SIGTERM')).toBe(0)
  expect(JSON.parse(silent.output())).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    key_files: { write: join(folder, '.depositd/write-key'), read: join(folder, '.depositd/read-key') },
    networks: expect.arrayContaining([expect.objectContaining({ name: 'solana' })]),
    pid: silent.pid,
  })
})
