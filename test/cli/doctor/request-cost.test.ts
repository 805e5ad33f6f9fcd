import { expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { NetworkSettings } from '../../../src/chain/types.ts'
import { dailyCalls } from '../../../src/cli/doctor/cost.ts'
import { assetKey } from '../../../src/core/asset.ts'
import { base, drain } from '../../support/evm-watch.ts'
import { scriptedChain } from '../../support/scripted-evm-chain.ts'
import { scriptedChainId, startScriptedEvmNode } from '../../support/scripted-evm-node.ts'

const scanSeconds = 5
const blockSeconds = 2
const epochSeconds = 384
/** Two epochs. */
const measuredSeconds = epochSeconds * 2
const firstHead = 1000

/** Reads two epochs of Base as the daemon does, and counts every call that the node gets. */
async function measure(addresses: number, native: boolean) {
  const others = native ? 0 : 3000
  const chain = scriptedChain({ seed: 20, blocks: 3000, addresses, transfers: 0, others })
  const node = await startScriptedEvmNode(chain)
  const usdc = { key: assetKey(base, chain.token), network: base, symbol: 'USDC', decimals: 6 }
  const eth = { key: assetKey(base, 'native'), network: base, symbol: 'ETH', decimals: 18 }
  const settings: NetworkSettings = {
    name: base,
    family: 'evm',
    chainId: scriptedChainId,
    rpcUrls: [node.url],
    assets: native ? [usdc, eth] : [usdc],
  }
  let calls = 0
  const reader = createEvmReader(settings, { observe: () => calls++ })
  const watched = new Set(chain.watched)
  const moveTo = (seconds: number) => {
    const head = firstHead + Math.floor(seconds / blockSeconds)
    const final = firstHead - 400 + (Math.floor(seconds / epochSeconds) * epochSeconds) / blockSeconds
    Object.assign(node.behaviour, { head, final })
  }
  moveTo(0)
  let { cursor } = await drain(reader, watched, { cursor: null })
  // What is learned at the start is not of every day.
  for (let seconds = 0; seconds < measuredSeconds * 2; seconds += scanSeconds) {
    if (seconds < measuredSeconds) calls = 0
    moveTo(seconds)
    cursor = (await drain(reader, watched, { cursor })).cursor
  }
  await node.stop()
  const daily = Math.round((calls * 86_400) / measuredSeconds)
  return { daily, expected: dailyCalls(settings, addresses, scanSeconds) }
}

const cases = [10, 10_000].flatMap((addresses) => [[addresses, false] as const, [addresses, true] as const])

test.each(cases)(
  'the calls of a day for %i addresses are about what is said, native coin: %s',
  async (addresses, native) => {
    const { daily, expected } = await measure(addresses, native)
    process.stdout.write(
      `${addresses} addresses, native coin: ${native}: ${daily} calls a day; said: ${JSON.stringify(expected)}\n`,
    )
    expect(daily).toBeGreaterThanOrEqual(expected.least * 0.9)
    expect(daily).toBeLessThanOrEqual(expected.most * 1.1)
  },
)
