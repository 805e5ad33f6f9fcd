import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { addresses, chainTransfers, drain, evmSettings } from '../../support/evm-watch.ts'
import { limitsRange, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const payees = Array.from(
  { length: 5 },
  (_, place) => `0x${(place + 0xa0).toString(16).padStart(40, '0')}` as const,
)
const watched = addresses(...payees)
const blocks = 40

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy
let startHeight: bigint

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  proxy = await startRpcProxy(anvil.url)
  startHeight = (await anvil.client.getBlockNumber()) + 1n
  for (let block = 0; block < blocks; block++) {
    const payee = payees[block % payees.length] ?? payees[0]
    if (payee === undefined) continue
    await token.send(payee, BigInt(block + 1))
    if (block % 3 === 0) await anvil.client.sendTransaction({ to: payee, value: 1n })
    if (block % 7 === 0) await token.send(payee, 1n)
    await anvil.mine()
  }
  await anvil.mine(3)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})

test('whatever the limits, the same transfers are read, each once', async () => {
  const anyLimits = fc.record({
    // Block by block, a thousand empty blocks take a thousand scans.
    nodeBlocks: fc.bigInt(6n, 50n),
    blocksPerScan: fc.bigInt(6n, 60n),
    logBlocksPerScan: fc.bigInt(6n, 60n),
    transfersPerScan: fc.integer({ min: 1, max: 60 }),
    // With no time at all each scan reads one piece.
    scanMs: fc.constantFrom(0, 6000),
    logsPerAnswerMax: fc.integer({ min: 3, max: 60 }),
    recipientsPerRequest: fc.integer({ min: 1, max: 6 }),
    native: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(anyLimits, async ({ nodeBlocks, native, ...bounds }) => {
      const settings = evmSettings({ ...anvil, url: proxy.url }, { tokens: [token.address], native })
      proxy.behave(cutsOff(bounds.logsPerAnswerMax, limitsRange(nodeBlocks)))
      const reader = createEvmReader(settings, { bounds })
      const { transfers } = await drain(reader, watched, { cursor: null, startHeight })
      const final = transfers.filter(({ stage }) => stage === 'final')
      expect(chainTransfers(final)).toHaveLength(final.length)
      expect(sum(final.filter(({ index }) => index !== 'native'))).toBe(tokensSent())
      expect(final.filter(({ index }) => index === 'native')).toHaveLength(native ? 14 : 0)
    }),
    { numRuns: 25 },
  )
}, 120_000)

/** Some servers answer the first so many logs and say nothing of the rest. */
function cutsOff(logsMax: number, limited: Script): Script {
  return async (call, forward) => {
    const answer = await limited(call, forward)
    return call.method === 'eth_getLogs' && answer.error === undefined
      ? { result: (answer.result as unknown[]).slice(0, logsMax) }
      : answer
  }
}

function sum(transfers: readonly { amount: bigint }[]): bigint {
  return transfers.reduce((total, { amount }) => total + amount, 0n)
}

/** 1 to 40, and one more in each seventh block. */
function tokensSent(): bigint {
  return BigInt((blocks * (blocks + 1)) / 2 + Math.ceil(blocks / 7))
}
