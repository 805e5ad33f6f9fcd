import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { ReaderOptions } from '../../../src/chain/options.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { addresses, evmSettings } from '../../support/evm-watch.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const other = '0x0000000000000000000000000000000000000B0b'

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy
/** The block of the first payment; the second is two blocks above it. */
let paidAt: bigint

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  proxy = await startRpcProxy(anvil.url)
  await anvil.mine(2)
  await token.send(depositor, 5n)
  await anvil.mine()
  paidAt = await anvil.client.getBlockNumber()
  await anvil.mine()
  await anvil.client.sendTransaction({ to: depositor, value: 6n })
  await token.send(other, 7n)
  await anvil.mine(4)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
afterEach(() => proxy.behave())

function readRange(range: { from: bigint; to: bigint }, options?: ReaderOptions) {
  const settings = { ...evmSettings(anvil, { tokens: [token.address] }), rpcUrls: [proxy.url] }
  return createEvmReader(settings, options).readRange({ ...range, watched: addresses(depositor) })
}

test('a stretch tells the transfers in it, both ends included, and proves it whole', async () => {
  const whole = await readRange({ from: paidAt, to: paidAt + 2n })
  expect(whole.transfers.map(({ index, amount, height }) => [index, amount, height])).toEqual([
    ['0', 5n, paidAt],
    ['native', 6n, paidAt + 2n],
  ])
  expect(whole.transfers[0]).not.toHaveProperty('stage')
  expect(whole).toMatchObject({ reached: paidAt + 2n, proved: [{ from: paidAt, to: paidAt + 2n }] })
  const between = await readRange({ from: paidAt + 1n, to: paidAt + 1n })
  expect(between).toMatchObject({ transfers: [], reached: paidAt + 1n })
})

test('a stretch longer than one reading stops early and says where', async () => {
  const bounded = await readRange({ from: paidAt, to: paidAt + 2n }, { bounds: { blocksPerScan: 2n } })
  expect(bounded).toMatchObject({ reached: paidAt + 1n, proved: [{ from: paidAt, to: paidAt + 1n }] })
  expect(bounded.transfers.map(({ amount }) => amount)).toEqual([5n])
})

test('nothing above what is final is read', async () => {
  const head = await anvil.client.getBlockNumber()
  const above = await readRange({ from: head - 3n, to: head + 100n })
  expect(above).toMatchObject({ reached: head - 2n, proved: [{ from: head - 3n, to: head - 2n }] })
  const nothing = await readRange({ from: head, to: head })
  expect(nothing).toMatchObject({ transfers: [], proved: [], reached: head - 1n })
})
