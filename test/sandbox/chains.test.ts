import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSolanaRpc, type Address as KitAddress } from '@solana/kit'
import { pino } from 'pino'
import { createPublicClient, type Address as EvmAddress, type Hash, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Address, type AssetKey, assetCode, assetKey } from '../../src/core/asset.ts'
import { toAmount } from '../../src/core/money.ts'
import { type Chains, type SandboxNetwork, type StartedPart, startChains } from '../../src/sandbox/chains.ts'
import { openEvmClient, tokenAbi } from '../../src/sandbox/evm-faucet.ts'
import { openNetwork } from '../../src/sandbox/local-networks.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })
const pace = { blockMs: 200, slotMs: 100, log }
const evmPayee = '0x00000000000000000000000000000000000000aa' as Address
const solanaPayee = '8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR' as Address

let folder: string
let chains: Chains
const parts: StartedPart[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-chains-'))
  chains = await startChains({ folder, ...pace, onPart: (part) => parts.push(part) })
})

afterAll(async () => {
  await chains.stop()
  await rm(folder, { recursive: true, force: true })
})

test('every network is reported with its address once it is up', () => {
  expect(new Set(parts.map(({ part }) => part))).toEqual(new Set(['mainnet', 'base', 'arbitrum', 'solana']))
  for (const { address } of parts) expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

test('the test tokens have the same addresses on every machine', () => {
  const evmAssets = {
    USDC: '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35',
    USDT: '0xa15bb66138824a1c7167f5e85b957d04dd34e468',
  }
  for (const name of ['mainnet', 'base', 'arbitrum']) {
    expect(codesOf(networkOf(name))).toEqual({ ETH: 'native', ...evmAssets })
  }
  expect(codesOf(networkOf('solana'))).toEqual({
    SOL: 'native',
    USDC: '5HZyUnqs85a1wR5q9KvCobRupet6SZFtE3GH2S3pNJiD',
    USDT: 'FW4hMpCoVzLYR8XRoVTiKJRh7V1Bf5x6Qv65kgGTBFDb',
  })
})

test('processes that pay at the same moment each get a number of their own', async () => {
  const arbitrum = networkOf('arbitrum')
  const url = arbitrum.rpcUrls[0] ?? ''
  const others = await Promise.all(Array.from({ length: 8 }, () => openNetwork('arbitrum', url)))
  const to = '0x00000000000000000000000000000000000000ab' as Address
  const asset = assetKey(arbitrum.name, 'native')
  const paid = await Promise.all(
    others.flatMap((one) => [1n, 2n, 3n].map((wei) => one.pay({ asset, to, amount: toAmount(wei) }))),
  )
  expect(new Set(paid).size).toBe(24)
  for (const transaction of paid) await arbitrum.landed(transaction)
})

test.for(['mainnet', 'base'])('on %s each asset can be given and paid', async (name) => {
  const network = networkOf(name)
  const client = createPublicClient({ transport: http(network.rpcUrls[0]), cacheTime: 0 })
  expect(await client.getChainId()).toBe(network.chainId)
  const balanceOf = (key: AssetKey): Promise<bigint> => {
    const [address, owner] = [assetCode(key) as EvmAddress, evmPayee as EvmAddress]
    if (assetCode(key) === 'native') return client.getBalance({ address: owner })
    return client.readContract({ address, abi: tokenAbi, functionName: 'balanceOf', args: [owner] })
  }
  for (const { key, decimals } of network.assets) {
    if (assetCode(key) !== 'native') {
      const address = assetCode(key) as EvmAddress
      expect(await client.readContract({ address, abi: tokenAbi, functionName: 'decimals' })).toBe(decimals)
    }
    await network.fund(evmPayee, key, toAmount(1_000n))
    expect(await balanceOf(key)).toBe(1_000n)
    const payment = { asset: key, to: evmPayee, amount: toAmount(5n) }
    const hashes = await Promise.all(Array.from({ length: 10 }, () => network.pay(payment)))
    expect(new Set(hashes).size).toBe(10)
    await until('ten payments arrived', async () => (await balanceOf(key)) === 1_050n || null)
  }
})

test('a payment of tokens has gas also for a receiver that is emptied before it lands', async () => {
  const network = networkOf('base')
  const client = createPublicClient({ transport: http(network.rpcUrls[0]), cacheTime: 0 })
  const asset = network.assets.find(({ symbol }) => symbol === 'USDT')?.key ?? ('' as AssetKey)
  const payment = { asset, to: '0x00000000000000000000000000000000000000bb' as Address, amount: toAmount(5n) }
  const first = await client.waitForTransactionReceipt({
    hash: (await network.pay(payment)) as string as Hash,
  })
  const again = await client.getTransaction({ hash: (await network.pay(payment)) as string as Hash })
  expect(again.gas).toBeGreaterThanOrEqual(first.gasUsed)
})

test('on solana each asset can be given and paid, many at once', async () => {
  const network = networkOf('solana')
  const rpc = createSolanaRpc(network.rpcUrls[0] ?? '')
  const balanceOf = async (key: AssetKey): Promise<bigint> => {
    const owner = solanaPayee as string as KitAddress
    const code = assetCode(key)
    if (code === 'native') return (await rpc.getBalance(owner, { commitment: 'processed' }).send()).value
    const { value } = await rpc
      .getTokenAccountsByOwner(
        owner,
        { mint: code as string as KitAddress },
        { encoding: 'jsonParsed', commitment: 'processed' },
      )
      .send()
    return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n)
  }
  for (const { key } of network.assets) {
    await network.fund(solanaPayee, key, toAmount(1_000_000n))
    const payment = { asset: key, to: solanaPayee, amount: toAmount(5n) }
    const signatures = await Promise.all(Array.from({ length: 10 }, () => network.pay(payment)))
    expect(new Set(signatures).size).toBe(10)
    expect(await balanceOf(key)).toBe(1_000_050n)
  }
})

test.for(['base', 'solana'])(
  'another process can open %s, pay on it, and see where the payment landed',
  async (name) => {
    const { rpcUrls, assets, payer } = networkOf(name)
    const opened = await openNetwork(name, rpcUrls[0] ?? '')
    expect(opened).toMatchObject({ assets, payer })
    const to = name === 'solana' ? solanaPayee : evmPayee
    for (const { key } of assets) {
      const before = await opened.balance(to, key)
      const transaction = await opened.pay({ asset: key, to, amount: toAmount(7n) })
      expect(await opened.landed(transaction)).toBeGreaterThan(0n)
      expect(await opened.balance(to, key)).toBe(before + 7n)
    }
  },
)

test('a second start finds the tokens and sends nothing', async () => {
  const before = networkOf('base')
  const sentBefore = await sentByNode(before)
  await chains.stop()
  chains = await startChains({ folder, ...pace })
  const after = networkOf('base')
  expect(await sentByNode(after)).toEqual(sentBefore)
  expect(after.assets).toEqual(before.assets)
})

/** How many transactions each of the node's own accounts has sent. */
async function sentByNode(network: SandboxNetwork): Promise<number[]> {
  const client = openEvmClient(network.rpcUrls[0] ?? '', network.chainId ?? 0)
  const accounts = await client.getAddresses()
  return Promise.all(accounts.map((address) => client.getTransactionCount({ address, blockTag: 'latest' })))
}

function networkOf(name: string): SandboxNetwork {
  const network = chains.networks.find((one) => one.name === name)
  if (network === undefined) throw new Error(`${name} is not running`)
  return network
}

function codesOf(network: SandboxNetwork): Record<string, string> {
  return Object.fromEntries(network.assets.map(({ symbol, key }) => [symbol, assetCode(key)]))
}
