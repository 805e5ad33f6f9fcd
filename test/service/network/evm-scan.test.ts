import { type Hex, parseEther } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type Address, parseAddress, toTxId } from '../../../src/core/asset.ts'
import { liquidityBranch } from '../../../src/service/keyring/keyring.ts'
import type {
  NetworkClient,
  NetworkReadPosition,
  Scan,
  ScannedPayment,
} from '../../../src/service/network/port.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { changes, honest, type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'
import { keyring, openMainnet } from './evm-wallet.ts'

const anvil: Anvil = await startAnvil(1)
const token: TestToken = await deployToken(anvil, 'USDC')
const proxy: RpcProxy = await startRpcProxy(anvil.url)
let network: NetworkClient
let position: NetworkReadPosition
/** An address that nobody has paid to yet. */
let branch = 0
let address: Hex

beforeEach(async () => {
  branch += 1
  address = keyring.evmAccount(branch).address
  proxy.behave(honest)
  await anvil.mine(3)
  network = openMainnet(proxy.url, token.address)
  position = await network.start()
  proxy.calls.length = 0
})

afterAll(() => Promise.all([proxy.stop(), anvil.stop()]))

async function scan(watched: readonly Address[] = [parseAddress('evm', address)]): Promise<Scan> {
  const found = await network.scan(position, () => Promise.resolve(new Set(watched)))
  position = found.position
  return found
}

const finalsOf = ({ payments }: Pick<Scan, 'payments'>): ScannedPayment[] =>
  payments.filter(({ final }) => final)
const send = (value: bigint): Promise<Hex> => anvil.client.sendTransaction({ to: address, value })
const calls = (method: string): number => proxy.calls.filter((call) => call.method === method).length

test('a payment is told as seen, and again as final, and its block is read once', async () => {
  const transactions = [await send(5n), await token.send(address, 7n)]
  await anvil.mine()
  const { payments } = await scan()
  const place = { block: await anvil.client.getBlockNumber({ cacheTime: 0 }), final: false }
  const sender = parseAddress('evm', rich.address)
  expect(payments).toMatchObject([
    { transaction: transactions[1], index: '0', amount: 7n, sender, ...place },
    { transaction: transactions[0], index: 'native', amount: 5n, sender, ...place },
  ])
  proxy.calls.length = 0
  await anvil.mine(2)
  const reported = await scan()
  expect(finalsOf(reported)).toEqual(payments.map((payment) => ({ ...payment, final: true })))
  expect(wholeBlocks()).toHaveLength(2)
})

test('10,000 addresses cost no more requests than ten', async () => {
  await token.send(address, 7n)
  await anvil.mine(3)
  const otherAddresses = Array.from(
    { length: 10_000 },
    (_, place) => `0x${place.toString(16).padStart(40, '0')}`,
  )
  const begin = position
  const requests = []
  for (const watched of [otherAddresses.slice(0, 10), otherAddresses]) {
    network = openMainnet(proxy.url, token.address)
    position = begin
    proxy.calls.length = 0
    const { payments } = await scan([address, ...watched].map((text) => parseAddress('evm', text)))
    expect(payments).toHaveLength(1)
    requests.push(proxy.calls.length)
  }
  expect(requests[0]).toBe(requests[1])
})

test('one scan reads a bounded number of blocks, a few at a time, and tells that more are waiting', async () => {
  await anvil.mine(1300)
  let underWay = 0
  let most = 0
  proxy.behave(async (_call, forward) => {
    most = Math.max(most, ++underWay)
    const answer = await forward()
    underWay -= 1
    return answer
  })
  const { finalHeight } = position
  expect((await scan()).more).toBe(true)
  expect(position).toMatchObject({ finalHeight: finalHeight + 128n, seenHeight: finalHeight + 256n })
  expect(most).toBeLessThanOrEqual(16)
  while ((await scan()).more);
  const head = await anvil.client.getBlockNumber({ cacheTime: 0 })
  expect(position.seenHeight).toBe(head)
  expect(new Set(wholeBlocks()).size, 'each is read').toBe(Number(head - finalHeight))
  expect(wholeBlocks(), 'once').toHaveLength(Number(head - finalHeight))
})

/** Blocks that were read with their transactions. */
const wholeBlocks = () =>
  proxy.calls.flatMap(({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[1] === true ? [BigInt(params[0] as string)] : [],
  )

test('nothing is read where no address was handed out', async () => {
  await anvil.mine(600)
  expect(await scan([])).toMatchObject({ payments: [], more: false })
  expect(position.seenHeight).toBe(await anvil.client.getBlockNumber({ cacheTime: 0 }))
  expect(proxy.calls).toHaveLength(4)
  await send(5n)
  await anvil.mine(3)
  expect(finalsOf(await scan())).toHaveLength(1)
})

test('what the liquidity wallet pays is no deposit', async () => {
  const { address: liquidity } = keyring.evmAccount(liquidityBranch)
  await anvil.client.setBalance({ address: liquidity, value: parseEther('1') })
  await anvil.client.impersonateAccount({ address: liquidity })
  await anvil.client.sendTransaction({ account: liquidity, to: address, value: 5n })
  const other = await send(6n)
  await anvil.mine(3)
  expect((await scan()).payments.map(({ transaction }) => transaction)).toEqual([other])
})

test('a transaction that the chain ran and refused is no payment', async () => {
  await anvil.client.setCode({ address, bytecode: '0x60006000fd' })
  const hash = await anvil.client.sendTransaction({ to: address, value: 5n, gas: 50_000n })
  await anvil.mine(3)
  expect((await anvil.client.getTransactionReceipt({ hash })).status).toBe('reverted')
  expect((await scan()).payments).toEqual([])
})

test('a payment that a reorganisation took away is not told as final, and one in its place is', async () => {
  const transaction = await send(5n)
  await anvil.mine()
  const [before] = (await scan()).payments
  await anvil.reorg(1)
  const again = await send(5n)
  await anvil.mine(3)
  const reported: ScannedPayment[] = []
  while (position.finalHeight < (before?.block ?? 0n)) reported.push(...(await scan()).payments)
  expect(before).toMatchObject({ transaction, final: false })
  expect(reported.every(({ transaction: one }) => one === toTxId(again))).toBe(true)
})

test('a node that lacks a block that it lists is not believed to have no transfers in it', async () => {
  await token.send(address, 7n)
  await anvil.mine(3)
  proxy.behave(({ method }, forward) =>
    method === 'eth_getLogs' ? { error: { code: -32000, message: 'unknown block' } } : forward(),
  )
  const before = position
  await expect(scan()).rejects.toThrow('unknown block')
  expect(calls('eth_getLogs')).toBeGreaterThan(0)
  expect(position).toEqual(before)
  proxy.behave(honest)
  expect(finalsOf(await scan())).toMatchObject([{ amount: 7n }])
})

test('a node that has a payment in another block than the one that listed it is not believed', async () => {
  await send(5n)
  await anvil.mine()
  const blockHash = `0x${'ab'.repeat(32)}`
  proxy.behave(changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), blockHash })))
  await expect(scan()).rejects.toThrow('and returns it in block')
  proxy.behave(honest)
  expect((await scan()).payments).toHaveLength(1)
})

test('blocks that do not follow one another are not believed', async () => {
  await anvil.mine(6)
  const torn = changes('eth_getBlockByNumber', (block) => ({
    ...(block as object),
    parentHash: `0x${'ab'.repeat(32)}`,
  }))
  proxy.behave(torn)
  await expect(scan()).rejects.toThrow('are not linked')
  proxy.behave(honest)
  await expect(scan()).resolves.toMatchObject({ payments: [] })
})

test('a chain that lost more than is read again is read from what is final now', async () => {
  const id = await anvil.client.snapshot()
  await anvil.mine(100)
  await scan([])
  await anvil.client.revert({ id })
  const transaction = await send(5n)
  await anvil.mine(3)
  const reported: ScannedPayment[] = []
  for (let more = true; more; ) {
    const found = await scan()
    reported.push(...finalsOf(found))
    more = found.more
  }
  expect(reported.map((payment) => payment.transaction)).toContain(transaction)
})
