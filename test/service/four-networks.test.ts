import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSolanaRpc, address as toSolanaAddress } from '@solana/kit'
import { fetchToken, findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { pino } from 'pino'
import { createPublicClient, erc20Abi, getAddress, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assetCode, parseAddress } from '../../src/core/asset.ts'
import { parseAmount } from '../../src/core/money.ts'
import { type Chains, type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { liquidityAddresses, openKeyring } from '../../src/service/keyring/keyring.ts'
import { openSolana } from '../../src/service/network/solana.ts'
import { type DepositService, startService } from '../../src/service/service.ts'
import { emptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { call, readKey, seed, serviceSettings, writeKey } from './fixtures.ts'
import { startReceiver, type TakenWebhook, type WebhookReceiver } from './webhook-receiver.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const log = pino({ level: 'silent' })
const evmRecipient = getAddress('0x00000000000000000000000000000000000000aa')
const solanaRecipient = 'GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL'
const withinMs = 120_000

let folder: string
let chains: Chains
let database: TestDatabase
let receiver: WebhookReceiver
let service: DepositService

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-service-'))
  ;[chains, database, receiver] = await Promise.all([
    startChains({ folder, blockMs: 100, slotMs: 100, log }),
    emptyDatabase(),
    startReceiver(),
  ])
  await Promise.all(chains.networks.map(fundLiquidity))
  service = await startService(settings(), { log })
})

afterAll(async () => {
  await service.stop()
  await Promise.all([receiver.stop(), chains.stop()])
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

function settings() {
  const prices = {
    'ETH/USDC': '3000.5',
    'SOL/USDC': '150.25',
    'USDT/USDC': '0.9998',
  }
  return serviceSettings(database.url, chains.networks, {
    webhooks: [{ url: receiver.url, secret }],
    quotes: { prices, source: null, feeBasisPoints: 30, spreadBasisPoints: 0 },
    pollEveryMs: 50,
  })
}

async function fundLiquidity(network: SandboxNetwork): Promise<void> {
  const to = parseAddress(network.family, liquidityAddresses({ seed })[network.family])
  for (const { key, decimals } of network.assets) await network.fund(to, key, parseAmount('1000', decimals))
}

function sandbox(name: string): SandboxNetwork {
  const network = chains.networks.find((candidate) => candidate.name === name)
  if (network === undefined) throw new Error(`there is no ${name}`)
  return network
}

type Addresses = readonly { network: string; address: string }[]

/** Pays to the deposit address of that network as a customer would. */
async function pay(addresses: Addresses, source: string, amount: string): Promise<string> {
  const [name = '', symbol] = source.split(' ')
  const network = sandbox(name)
  const asset = network.assets.find((candidate) => candidate.symbol === symbol)
  const address = addresses.find((candidate) => candidate.network === name)?.address ?? ''
  if (asset === undefined) throw new Error(`there is no ${source}`)
  const to = parseAddress(network.family, address)
  return network.pay({ asset: asset.key, to, amount: parseAmount(amount, asset.decimals) })
}

function untilStatus(transaction: string, status: DepositRecord['status']): Promise<DepositRecord> {
  const ask = async (): Promise<DepositRecord | null> => {
    const { body } = await call(`${service.url}/v1/proxies/deposits?transaction=${transaction}`, readKey)
    const [record] = body['data'] as DepositRecord[]
    return record?.status === status ? record : null
  }
  return until(`${transaction} ${status}`, ask, withinMs)
}

/** Asks the chain itself what an address holds. */
async function balance(name: string, symbol: string): Promise<bigint> {
  const network = sandbox(name)
  const key = network.assets.find((asset) => asset.symbol === symbol)?.key
  const [url = ''] = network.rpcUrls
  if (key === undefined) throw new Error(`there is no ${symbol} on ${name}`)
  const code = assetCode(key)
  return network.family === 'evm' ? evmBalance(url, code) : solanaBalance(url, code)
}

function evmBalance(url: string, code: string): Promise<bigint> {
  const client = createPublicClient({ transport: http(url) })
  if (code === 'native') return client.getBalance({ address: evmRecipient })
  const contract = { address: getAddress(code), abi: erc20Abi } as const
  return client.readContract({ ...contract, functionName: 'balanceOf', args: [evmRecipient] })
}

async function solanaBalance(url: string, code: string): Promise<bigint> {
  const rpc = createSolanaRpc(url)
  const owner = toSolanaAddress(solanaRecipient)
  if (code === 'native') return (await rpc.getBalance(owner).send()).value
  const seeds = { owner, mint: toSolanaAddress(code), tokenProgram: TOKEN_PROGRAM_ADDRESS }
  const [account] = await findAssociatedTokenPda(seeds)
  return (await fetchToken(rpc, account)).data.amount
}

test.each([
  ['mainnet ETH', '0.01', 'solana USDC', '29914985'],
  ['base USDC', '10', 'mainnet ETH', '3322779536743876'],
  ['arbitrum USDT', '5.000001', 'base USDC', '4984003'],
  ['solana SOL', '0.1', 'arbitrum USDC', '14979925'],
  ['solana USDC', '25', 'solana SOL', '165890183'],
  ['solana SOL', '0.1', 'base ETH', '4992476253957674'],
  ['arbitrum ETH', '0.01', 'solana USDT', '29920969'],
])('%s %s is forwarded as %s by a real transfer', async (...[source, amount, destination, delivered]) => {
  const [network = '', symbol = ''] = destination.split(' ')
  const recipient = sandbox(network).family === 'evm' ? evmRecipient : solanaRecipient
  const { body } = await call(`${service.url}/v1/channels`, writeKey, {
    id: `${source} to ${destination}`.replaceAll(' ', '-'),
    forward_network: network,
    forward_asset: symbol,
    forward_recipient: recipient,
  })
  const transaction = await pay(body['addresses'] as Addresses, source, amount)
  const settled = await untilStatus(transaction, 'settled')
  expect(settled.destination).toMatchObject({ network, asset: symbol, address: recipient, amount: delivered })
  expect(settled.source.sender?.toLowerCase()).toBe(sandbox(settled.source.network).payer.toLowerCase())
  expect(await balance(network, symbol)).toBe(BigInt(delivered))
})

test('a Solana node of another cluster than the one that is meant is refused', async () => {
  const [keyring, solana] = [openKeyring(seed), sandbox('solana')]
  const genesisHash = await createSolanaRpc(solana.rpcUrls[0] ?? '')
    .getGenesisHash()
    .send()
  await openSolana({ ...solana, genesisHash }, keyring).check()
  await expect(openSolana({ ...solana, genesisHash: solanaRecipient }, keyring).check()).rejects.toThrow(
    `the RPC of solana serves the cluster ${genesisHash}, not ${solanaRecipient}`,
  )
})

test('a StableWallet is credited in USDC, whatever was paid on whichever network', async () => {
  const { body } = await call(`${service.url}/v1/stable-wallets`, writeKey, { id: 'savings' })
  const { deposit_addresses: addresses } = body['stable_wallet'] as { deposit_addresses: Addresses }
  const payments = [
    ['base ETH', '0.001', '2991499'],
    ['solana USDT', '7', '6977605'],
  ] as const
  for (const [source, amount, delivered] of payments) {
    const credited = await untilStatus(await pay(addresses, source, amount), 'credited')
    expect(credited.destination).toMatchObject({
      network: null,
      address: 'savings',
      asset: 'USDC',
      decimals: 6,
      amount: delivered,
      transaction: null,
    })
  }
})

test('each step was told of by a webhook whose signature holds', async () => {
  const deliveries = await until('all webhooks', () => collected(7 * 5 + 2 * 3), withinMs)
  const types = new Map<string, string[]>()
  for (const { headers, body } of deliveries) {
    const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])]
    const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    const expected = `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
    expect(headers['webhook-signature']).toBe(expected)
    const event = JSON.parse(body) as { id: string; type: string; data: DepositRecord }
    expect(event.id).toBe(id)
    types.set(event.data.id, [...(types.get(event.data.id) ?? []), event.type])
  }
  const lives = [...types.values()].map((names) => names.toSorted().join(' '))
  const forwarded = 'deposit.confirmed deposit.converting deposit.detected deposit.forwarded deposit.settled'
  const credited = 'deposit.confirmed deposit.credited deposit.detected'
  expect(lives.toSorted()).toEqual([...Array<string>(7).fill(forwarded), ...Array<string>(2).fill(credited)])
})

const kept = new Map<string, TakenWebhook>()

/** Each event once, though it may have been sent again. */
function collected(count: number): TakenWebhook[] | null {
  for (const webhook of receiver.taken()) kept.set(String(webhook.headers['webhook-id']), webhook)
  return kept.size >= count ? [...kept.values()] : null
}

test('stopped while deposits are on their way, it carries on with them when started again', async () => {
  const { body } = await call(`${service.url}/v1/channels`, writeKey, {
    id: 'restart',
    forward_network: 'solana',
    forward_asset: 'USDC',
    forward_recipient: solanaRecipient,
  })
  const addresses = body['addresses'] as Addresses
  const before = await balance('solana', 'USDC')
  const transactions = await Promise.all(
    ['1', '1', '1'].map((amount) => pay(addresses, 'arbitrum USDC', amount)),
  )
  await service.stop()
  const during = await pay(addresses, 'solana USDC', '1')
  service = await startService(settings(), { log })
  const settled = await Promise.all([...transactions, during].map((one) => untilStatus(one, 'settled')))
  expect(new Set(settled.map(({ destination }) => destination.transaction)).size).toBe(4)
  expect(await balance('solana', 'USDC')).toBe(before + 4n * 997_000n)
})
