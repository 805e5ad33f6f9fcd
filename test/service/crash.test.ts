import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { getAddress, type Hex, parseAbiItem, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import type { ServiceSettings } from '../../src/service/settings.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { emptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { honest, type RpcProxy, type Script, startRpcProxy } from '../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'
import { until } from '../support/until.ts'
import { call, networkSettings, readKey, seed, serviceSettings, writeKey } from './fixtures.ts'

const recipient = getAddress('0x00000000000000000000000000000000000000aa')
const liquidity = liquidityAddresses({ seed }).evm as Hex
const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

let anvil: Anvil
let proxy: RpcProxy
let token: TestToken
let database: TestDatabase
let db: Client
let running: Process
let address: Hex

beforeAll(async () => {
  anvil = await startAnvil(8453)
  proxy = await startRpcProxy(anvil.url)
  token = await deployToken(anvil, 'USDC')
  await token.send(liquidity, 10n ** 24n)
  await anvil.client.setBalance({ address: liquidity, value: parseEther('10') })
  await anvil.mine(3)
  database = await emptyDatabase()
  db = new Client({ connectionString: database.url })
  await db.connect()
  running = await startProcess()
  const rule = { id: 'shop', forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }
  const { body } = await call(`${running.url}/v1/channels`, writeKey, rule)
  address = (body as { addresses: [{ address: Hex }] }).addresses[0].address
})

afterAll(async () => {
  await kill(running)
  await db.end()
  await proxy.stop()
  await anvil.stop()
  await database.drop()
})

type Process = { child: ChildProcess; url: string }

async function startProcess(): Promise<Process> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'service-process.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(settings()))
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, url }
}

async function kill({ child }: Process): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function settings(): ServiceSettings {
  const tokens = [{ symbol: 'USDC', decimals: 18, code: token.address }]
  const base = networkSettings({ name: 'base', family: 'evm', chainId: 8453, url: proxy.url, tokens })
  return serviceSettings(database.url, [base], { pollEveryMs: 20 })
}

async function deposits(): Promise<DepositRecord[]> {
  const { body } = await call(`${running.url}/v1/proxies/deposits?limit=500`, readKey)
  return body['data'] as DepositRecord[]
}

function untilAll(status: DepositRecord['status'], count: number): Promise<DepositRecord[]> {
  return until(
    `${count} deposits ${status}`,
    async () => {
      await anvil.mine()
      const records = await deposits()
      return records.filter((record) => record.status === status).length === count ? records : null
    },
    30_000,
  )
}

/** Every transfer the liquidity wallet made, and what each deposit claims, must be the same list. */
async function expectPaidOnce(records: readonly DepositRecord[]): Promise<void> {
  const logs = await anvil.client.getLogs({
    address: token.address,
    event: transfer,
    args: { from: liquidity },
    fromBlock: 0n,
    strict: true,
  })
  const paid = logs.map(({ transactionHash, args }) => `${transactionHash} ${args.to} ${args.value}`)
  const claimed = records.map(
    ({ destination }) => `${destination.transaction} ${recipient} ${destination.amount}`,
  )
  expect(paid.toSorted()).toEqual(claimed.toSorted())
}

/** What becomes of the bytes of a forward at the moment of the kill. */
const moments: [string, Script][] = [
  [
    'after it was stored and before it was sent',
    ({ method }, forward) =>
      method === 'eth_sendRawTransaction' ? { error: { code: -32603, message: 'out of order' } } : forward(),
  ],
  [
    'after it was sent and before the answer',
    async ({ method }, forward) => {
      const answer = await forward()
      return method === 'eth_sendRawTransaction' ? { status: 502 } : answer
    },
  ],
]

test.each(moments)('killed %s, it pays the forward once', async (_moment, script) => {
  proxy.behave(script)
  const before = (await deposits()).length
  await token.send(address, 1_000_000n + BigInt(before))
  const forwarding = await untilAll('forwarding', 1)
  await kill(running)
  proxy.behave(honest)
  running = await startProcess()
  const settled = await untilAll('settled', before + 1)
  const stored = forwarding[0]?.destination.transaction
  expect(settled[0]?.destination.transaction, 'the bytes that were stored are the bytes that landed').toBe(
    stored,
  )
  await expectPaidOnce(settled)
})

test('killed at any moment, it forgets no deposit and pays none twice', { timeout: 120_000 }, async () => {
  const before = (await deposits()).length
  // So many blocks after the deposits, the kill meets them in each state in turn.
  const rounds = [0, 1, 2, 3, 4, 6]
  for (const round of rounds) {
    await token.send(address, 2_000_000n + BigInt(round))
    await token.send(address, 3_000_000n + BigInt(round))
    for (let block = 0; block < round; block++) {
      await anvil.mine()
      await deposits()
    }
    await kill(running)
    running = await startProcess()
  }
  await expectPaidOnce(await untilAll('settled', before + 2 * rounds.length))
})

test('Postgres refuses to refund a deposit that was forwarded or still may be', async () => {
  const again = db.query(`
    insert into service.transfer (kind, deposit_id, attempt, network, branch, nonce, asset, to_address, amount)
    select 'refund', deposit_id, attempt, network, branch, nonce + 1000, asset, to_address, amount
    from service.transfer where kind = 'forward' limit 1`)
  await expect(again).rejects.toThrow('transfer_once')
})
