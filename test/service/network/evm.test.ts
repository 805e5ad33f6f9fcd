import { pino } from 'pino'
import { getAddress, type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { liquidityAddresses } from '../../../src/service/keyring/keyring.ts'
import { type DepositService, startService } from '../../../src/service/service.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { emptyDatabase, type TestDatabase } from '../../support/postgres.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'
import { until } from '../../support/until.ts'
import { call, networkSettings, readKey, seed, serviceSettings, writeKey } from '../fixtures.ts'

const recipient = getAddress('0x00000000000000000000000000000000000000aa')
const liquidity = liquidityAddresses({ seed }).evm as Hex
const supply = 10n ** 24n

let anvils: { mainnet: Anvil; base: Anvil }
let token: TestToken
let database: TestDatabase
let service: DepositService
let address: Hex

beforeAll(async () => {
  const [mainnet, base] = await Promise.all([startAnvil(1), startAnvil(8453)])
  anvils = { mainnet, base }
  token = await deployToken(base, 'USDC')
  await token.send(liquidity, supply)
  for (const anvil of [mainnet, base]) {
    await anvil.client.setBalance({ address: liquidity, value: parseEther('10') })
    await anvil.mine(3)
  }
  database = await emptyDatabase()
  service = await startService(settings(), { log: pino({ level: 'silent' }) })
  const rule = { forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }
  address = await channelAddress({ id: 'shop', ...rule })
})

async function channelAddress(rule: object): Promise<Hex> {
  const { status, body } = await call(`${service.url}/v1/channels`, writeKey, rule)
  expect([status, body]).toMatchObject([201, { addresses: [{ network: 'mainnet' }, { network: 'base' }] }])
  return (body as { addresses: [{ address: Hex }] }).addresses[0].address
}

afterAll(async () => {
  await service.stop()
  await Promise.all([anvils.mainnet.stop(), anvils.base.stop()])
  await database.drop()
})

function settings() {
  const { mainnet, base } = anvils
  const native = { symbol: 'ETH', decimals: 18, code: 'native' }
  const networks = [
    networkSettings({ name: 'mainnet', family: 'evm', chainId: 1, url: mainnet.url, tokens: [native] }),
    networkSettings({
      name: 'base',
      family: 'evm',
      chainId: 8453,
      url: base.url,
      tokens: [native, { symbol: 'USDC', decimals: 18, code: token.address }],
    }),
  ]
  const prices = { 'ETH/USDC': '3000.5', 'USDC/ETH': '0.0003' }
  const quotes = { prices, source: null, feeBasisPoints: 30, spreadBasisPoints: 0 }
  return serviceSettings(database.url, networks, { pollEveryMs: 20, quotes })
}

async function newest(transaction: string): Promise<DepositRecord | null> {
  const { body } = await call(
    `${service.url}/v1/proxies/deposits?transaction=${transaction}&limit=1`,
    readKey,
  )
  return (body['data'] as DepositRecord[])[0] ?? null
}

/** Mines both chains until the deposit is in that state. */
function untilStatus(transaction: string, status: DepositRecord['status']): Promise<DepositRecord> {
  return until(`deposit ${status}`, async () => {
    await Promise.all([anvils.mainnet.mine(), anvils.base.mine()])
    const record = await newest(transaction)
    return record?.status === status ? record : null
  })
}

const balanceOf = (owner: Hex): Promise<bigint> =>
  anvils.base.client.readContract({
    address: token.address,
    abi: [
      {
        type: 'function',
        name: 'balanceOf',
        stateMutability: 'view',
        inputs: [{ name: 'owner', type: 'address' }],
        outputs: [{ name: '', type: 'uint256' }],
      },
    ],
    functionName: 'balanceOf',
    args: [owner],
  })

test('a native deposit is detected, confirmed when final, converted and settled by a real transfer', async () => {
  const { mainnet } = anvils
  const transaction = await mainnet.client.sendTransaction({ to: address, value: parseEther('0.01') })
  await mainnet.mine()
  const detected = await until('the deposit', () => newest(transaction))
  expect(detected).toMatchObject({ status: 'detected', destination: { amount: null, transaction: null } })
  const settled = await untilStatus(transaction, 'settled')
  expect(settled).toMatchObject({
    source: { asset: 'ETH', amount: '10000000000000000', index: 'native', sender: rich.address },
    destination: { network: 'base', address: recipient, asset: 'USDC', amount: '29914985000000000000' },
    fee: { asset: 'USDC', amount: '90015000000000000' },
    rate: '3000.5',
  })
  expect(await balanceOf(recipient)).toBe(29_914_985_000_000_000_000n)
  const hash = settled.destination.transaction as Hex
  const receipt = await anvils.base.client.getTransactionReceipt({ hash })
  expect(receipt).toMatchObject({ status: 'success', from: liquidity.toLowerCase() })
})

test('an ERC-20 deposit carries its log index; several in one block are several deposits', async () => {
  const before = await balanceOf(recipient)
  const transactions = [await token.send(address, 1_000_000n), await token.send(address, 1_000_000n)]
  const settled = await Promise.all(transactions.map((transaction) => untilStatus(transaction, 'settled')))
  expect(settled.map(({ source }) => source.index)).toEqual(['0', '1'])
  expect(settled.map(({ rate }) => rate)).toEqual(['1', '1'])
  expect(await balanceOf(recipient)).toBe(before + 2n * 997_000n)
})

test('a transaction that the chain ran and refused is no deposit', async () => {
  const { client } = anvils.base
  // Code that refuses whatever it is called with.
  await client.setCode({ address, bytecode: '0x60006000fd' })
  const refused = await client.sendTransaction({ to: address, value: 1000n, gas: 50_000n })
  const settled = await untilStatus(await token.send(address, 1_000_000n), 'settled')
  await client.setCode({ address, bytecode: '0x' })
  const { status, blockNumber } = await client.getTransactionReceipt({ hash: refused })
  expect([status, blockNumber <= BigInt(settled.source.block)]).toEqual(['reverted', true])
  expect(await newest(refused)).toBeNull()
})

test('a deposit that a reorganisation takes away has failed, and is not forwarded', async () => {
  const { mainnet } = anvils
  await until('everything settled', async () => {
    await mainnet.mine()
    return (await openForwards()) === 0 ? true : null
  })
  const before = await balanceOf(recipient)
  const transaction = await mainnet.client.sendTransaction({ to: address, value: parseEther('0.02') })
  await mainnet.mine()
  await until('the deposit', () => newest(transaction))
  await mainnet.reorg(1)
  const failed = await untilStatus(transaction, 'failed')
  expect(failed).toMatchObject({ destination: { amount: null, transaction: null }, fee: null })
  expect(await balanceOf(recipient)).toBe(before)
})

async function openForwards(): Promise<number> {
  const { body } = await call(`${service.url}/v1/proxies/deposits?status=forwarding`, readKey)
  return (body['data'] as unknown[]).length
}

test('a short forward moves less on the chain than the record claims', async () => {
  const before = await balanceOf(recipient)
  service.faults.set({ shortForwardRate: 1 })
  const transaction = await token.send(address, 1_000_000n)
  const settled = await untilStatus(transaction, 'settled')
  service.faults.set({ shortForwardRate: 0 })
  expect(settled.destination.amount).toBe('997000')
  expect(await balanceOf(recipient)).toBe(before + 897_300n)
})

test('a deposit waits while the liquidity wallet is too poor, and keeps no other from its turn', async () => {
  const poor = supply * 10n
  const big = await token.send(address, poor)
  const small = await token.send(address, 1_000_000n)
  await untilStatus(small, 'settled')
  expect((await newest(big))?.status).toBe('converting')
  await token.send(liquidity, poor)
  await untilStatus(big, 'settled')
})

test('dust that is worth less than one unit has failed', async () => {
  const rule = { forward_network: 'mainnet', forward_asset: 'ETH', forward_recipient: recipient }
  const transaction = await token.send(await channelAddress({ id: 'dust', ...rule }), 1n)
  const failed = await untilStatus(transaction, 'failed')
  expect(failed).toMatchObject({ destination: { amount: '0', transaction: null }, rate: '0.0003' })
})

test('a chain that lost final blocks gets its forwards again, and the next one is paid too', async () => {
  const { base } = anvils
  const lost = await untilStatus(await token.send(address, 1_000_000n), 'settled')
  const before = await balanceOf(recipient)
  const hash = lost.destination.transaction as Hex
  const { blockNumber } = await base.client.getTransactionReceipt({ hash })
  await base.reorg(Number((await base.client.getBlockNumber()) - blockNumber) + 1)
  expect(await balanceOf(recipient), 'the payment is gone').toBeLessThan(before)
  const { mainnet } = anvils
  const later = await mainnet.client.sendTransaction({ to: address, value: parseEther('0.001') })
  const paid = await untilStatus(later, 'settled')
  expect(await balanceOf(recipient)).toBe(before + BigInt(paid.destination.amount ?? 0))
  expect(await base.client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
})

test('a payment in blocks that took the place of final ones is found', async () => {
  const { base } = anvils
  const id = await base.client.snapshot()
  await base.mine(10)
  await untilStatus(await token.send(address, 1_000_000n), 'settled')
  await base.client.revert({ id })
  await untilStatus(await token.send(address, 2_000_000n), 'settled')
})
