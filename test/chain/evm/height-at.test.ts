import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { evmSettings } from '../../support/evm-watch.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'

/** Seconds from the first block after genesis to each that follows; two blocks share one second. */
const pace = [0, 10, 12, 12, 40, 1000, 1001, 5000, 5001, 5002]

let anvil: Anvil
let proxy: RpcProxy
let firstSecond: bigint

beforeAll(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.url)
  const { timestamp } = await anvil.client.getBlock({ blockNumber: 0n })
  firstSecond = timestamp + 100n
  await anvil.client.request({
    method: 'anvil_setBlockTimestampInterval' as never,
    params: [0] as never,
  })
  for (const seconds of pace) {
    await anvil.client.setNextBlockTimestamp({ timestamp: firstSecond + BigInt(seconds) })
    await anvil.mine()
  }
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
beforeEach(() => proxy.behave())

function heightAt(seconds: number): Promise<bigint | null> {
  const settings = { ...evmSettings(anvil, { tokens: [] }), rpcUrls: [proxy.url] }
  return createEvmReader(settings).heightAt(new Date(Number(firstSecond) * 1000 + seconds * 1000))
}

test.each([
  ['the time of genesis itself', -100, 0n],
  ['between genesis and the next block', -1, 0n],
  ['the very time of a block', 10, 2n],
  ['a part of a second after a block', 10.9, 2n],
  ['a second that two blocks share', 12, 4n],
  ['between two blocks far apart', 999.999, 5n],
  ['the last final block', 5000, 8n],
  ['later than anything final', 9999, 8n],
])('the height at %s is that of the last block that is not after it', async (_when, seconds, height) => {
  expect(await heightAt(seconds)).toBe(height)
})

test('a time before the first block has no height', async () => {
  expect(await heightAt(-101)).toBeNull()
})

test('a node that keeps no old blocks knows the heights of those it has, and none before them', async () => {
  lacks((height) => height < 5n)
  expect(await heightAt(1000)).toBe(6n)
  expect(await heightAt(40)).toBe(5n)
  expect(await heightAt(39)).toBeNull()
})

test('a block missing among those that are there is the fault of the node, and no height', async () => {
  lacks((height) => height > 0n && height < 8n)
  await expect(heightAt(1000)).rejects.toThrow(/remote_failed.*blocks by their time.*lacks some/)
})

function lacks(missing: (height: bigint) => boolean): void {
  proxy.behave(({ method, params: [at] }, forward) =>
    method === 'eth_getBlockByNumber' && typeof at === 'string' && at.startsWith('0x') && missing(BigInt(at))
      ? { result: null }
      : forward(),
  )
}
