import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEvmReader } from '../../src/chain/evm/reader.ts'
import type { ScanCursor, ScanResult } from '../../src/chain/types.ts'
import { parseTxId, toTxId } from '../../src/core/asset.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { addresses, evmSettings } from '../support/evm-watch.ts'
import { changes, type RpcProxy, type Script, startRpcProxy } from '../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const watched = addresses(depositor)

let anvil: Anvil
let token: TestToken
let nodes: RpcProxy[]
let start: ScanCursor

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  nodes = [await startRpcProxy(anvil.url), await startRpcProxy(anvil.url), await startRpcProxy(anvil.url)]
})
afterAll(async () => {
  for (const node of nodes) await node.stop()
  await anvil.stop()
})
let paid: string
beforeEach(async () => {
  await anvil.mine(4)
  start = (await readerOf(1).scan({ cursor: null, startHeight: null, watched })).cursor
  for (const node of nodes) node.calls.length = 0
  paid = await token.send(depositor, 5n)
  await anvil.mine(4)
})
afterEach(() => {
  for (const node of nodes) node.behave()
})

/** Reads by the first so many nodes; two must agree. */
function readerOf(count: number, ...more: readonly string[]) {
  const settings = evmSettings(anvil, { tokens: [token.address] })
  const rpcUrls = [...nodes.slice(0, count).map(({ url }) => url), ...more]
  return createEvmReader(
    {
      ...settings,
      rpcUrls,
      reading: {
        quorum: Math.min(2, rpcUrls.length),
        finality: { kind: 'tag', tag: 'finalized' },
        traces: 'never',
      },
    },
    { bounds: { quotaWaitMs: 0 } },
  )
}

function scan(count: number, ...scripts: readonly (Script | undefined)[]): Promise<ScanResult> {
  for (const [place, script] of scripts.entries()) nodes[place]?.behave(script)
  return readerOf(count).scan({ cursor: start, startHeight: null, watched })
}

function finals({ transfers }: ScanResult): bigint[] {
  return transfers.filter(({ stage }) => stage === 'final').map(({ amount }) => amount)
}

type Log = { data: string }
/** Every transfer is of another amount, in its log and in its receipt. */
const inflates: Script = async ({ method }, forward) => {
  const { result } = await forward()
  const inflated = (logs: readonly Log[]) =>
    logs.map((log) => ({ ...log, data: `0x${'7'.padStart(64, '0')}` }))
  if (method === 'eth_getLogs') return { result: inflated(result as Log[]) }
  return { result }
}
const cannotReport: Script = () => ({ status: 502, error: { code: -32000, message: 'no backend' } })
/** Calls an older block final. */
const lags: Script = async ({ method, params }, forward) => {
  if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized') return forward()
  const height = `0x${start.final.height.toString(16)}`
  return {
    result: await anvil.client.request({ method: 'eth_getBlockByNumber', params: [height, false] } as never),
  }
}
/** Knows another block wherever one is asked for by its number. */
const otherHash = `0x${'ab'.repeat(32)}`
const forked = changes('eth_getBlockByNumber', (block) => ({
  ...(block as object),
  hash: otherHash,
  parentHash: otherHash,
}))

/** Knows another block at one height. */
function otherBlockAt(height: bigint): Script {
  const number = `0x${height.toString(16)}`
  return changes('eth_getBlockByNumber', (block) =>
    (block as { number: string }).number === number ? { ...(block as object), hash: otherHash } : block,
  )
}

/** Up to which blocks a node was asked for logs. */
function logsAskedOf(place: number): bigint[] {
  const calls = nodes[place]?.calls.filter(({ method }) => method === 'eth_getLogs') ?? []
  return calls.map(({ params }) => BigInt((params[0] as { toBlock: string }).toBlock))
}

test('what two nodes agree on counts', async () => {
  const result = await scan(2)
  expect(finals(result)).toEqual([5n])
  expect(result.dissent).toEqual([])
  expect(result.cursor.final.height).toBeGreaterThan(start.final.height)
  // What is not final yet is booked by nobody, so that one node is enough for it.
  expect(logsAskedOf(0).some((height) => height > result.cursor.final.height)).toBe(true)
  expect(logsAskedOf(1)).not.toEqual([])
  expect(logsAskedOf(1).every((height) => height <= result.cursor.final.height)).toBe(true)
})

test('where two nodes differ nothing counts, and each difference is told', async () => {
  const failing = scan(2, undefined, inflates)
  await expect(failing).rejects.toMatchObject({ code: 'rpc_disagreement', details: { network: 'base' } })
  await expect(failing).rejects.toThrow(/lacks .*: 5 of base\/.* has .*: 7 of base/)
  expect(finals(await scan(2, undefined, undefined))).toEqual([5n])
})

test.each([0, 1, 2])('a third node settles it, whichever of them lies (%i)', async (liar) => {
  const result = await scan(3, ...[0, 1, 2].map((place) => (place === liar ? inflates : undefined)))
  expect(finals(result)).toEqual([5n])
  // Who is never asked contradicts nobody.
  expect(result.dissent).toHaveLength(liar === 2 ? 0 : 1)
  if (liar < 2) expect(result.dissent[0]).toContain(new URL(nodes[liar]?.url ?? '').host)
})

test('who was outvoted is asked after the others', async () => {
  const reader = readerOf(3)
  nodes[0]?.behave(inflates)
  let { cursor } = await reader.scan({ cursor: start, startHeight: null, watched })
  for (const node of nodes) node.calls.length = 0
  for (const amount of [6n, 7n]) {
    await token.send(depositor, amount)
    await anvil.mine(4)
    const result = await reader.scan({ cursor, startHeight: null, watched })
    expect([finals(result), result.dissent]).toEqual([[amount], []])
    cursor = result.cursor
  }
  expect(logsAskedOf(0)).toEqual([])
})

test('a node that lags keeps the others waiting, and gainsays nobody', async () => {
  const waiting = await scan(2, undefined, lags)
  expect(waiting.cursor.final).toEqual(start.final)
  expect(finals(waiting)).toEqual([])
  expect(waiting.dissent).toEqual([])
  // A payment that is not final yet is shown all the same.
  expect(waiting.transfers.map(({ stage }) => stage)).toContain('seen')
  expect(finals(await scan(3, undefined, lags, undefined))).toEqual([5n])
})

test('a node that is away is made up for by the next; without one nothing moves', async () => {
  expect(finals(await scan(3, cannotReport))).toEqual([5n])
  await expect(scan(2, cannotReport)).rejects.toThrow(/agreement of 2 nodes.*only 1 answered.*no backend/)
})

test('two nodes that end at different blocks do not agree, though neither found anything', async () => {
  const nothing = { cursor: start, startHeight: null, watched: addresses(`0x${'e'.repeat(40)}`) }
  const { cursor } = await readerOf(2).scan(nothing)
  nodes[1]?.behave(otherBlockAt(cursor.final.height))
  await expect(readerOf(2).scan(nothing)).rejects.toThrow(
    /rpc_disagreement.*lacks block \d+ as 0x.* and has block \d+ as 0xabab/,
  )
})

test('one node alone neither rewinds nor halts a network', async () => {
  await expect(scan(2, forked)).rejects.toMatchObject({ code: 'rpc_disagreement' })
  const result = await scan(3, forked)
  expect(result.rewoundTo).toBeNull()
  expect(finals(result)).toEqual([5n])
  await expect(scan(2, forked, forked)).rejects.toMatchObject({ code: 'history_lost' })
})

test('a node of another chain is a fault of the settings even where others could do without it', async () => {
  await expect(
    scan(
      2,
      undefined,
      changes('eth_chainId', () => '0x1'),
    ),
  ).rejects.toThrow('expected chain id 8453, found 1')
})

test('a stretch that is read again is agreed on, too', async () => {
  const head = await anvil.client.request({ method: 'eth_blockNumber' } as never)
  const range = { from: start.final.height + 1n, to: BigInt(head), watched }
  const { transfers, reached } = await readerOf(2).readRange(range)
  expect(transfers.map(({ amount }) => amount)).toEqual([5n])
  expect(reached).toBeGreaterThan(range.from)
  nodes[1]?.behave(inflates)
  await expect(readerOf(2).readRange(range)).rejects.toMatchObject({ code: 'rpc_disagreement' })
  const settled = await readerOf(3).readRange(range)
  expect(settled.transfers.map(({ amount }) => amount)).toEqual([5n])
  expect(settled.dissent).toHaveLength(1)
  nodes[1]?.behave(otherBlockAt(reached))
  const nobody = { ...range, watched: addresses(`0x${'e'.repeat(40)}`) }
  await expect(readerOf(2).readRange(nobody)).rejects.toMatchObject({ code: 'rpc_disagreement' })
})

test('a transaction is final where two nodes call it final, and till then only seen', async () => {
  const tx = toTxId(paid)
  const stages = async (count: number) => {
    const reading = await readerOf(count).readTransaction(tx, watched)
    return reading.kind === 'read' ? reading.transfers.map(({ stage }) => stage) : reading.kind
  }
  expect(await stages(2)).toEqual(['final'])
  nodes[1]?.behave(lags)
  expect(await stages(2)).toEqual(['seen'])
  expect(await stages(3)).toEqual(['final'])
  nodes[1]?.behave(changes('eth_getTransactionReceipt', () => null))
  expect(await stages(2)).toEqual(['seen'])
  nodes[1]?.behave(
    changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), status: '0x0' })),
  )
  await expect(stages(2)).rejects.toMatchObject({ code: 'rpc_disagreement' })
  expect(await stages(3)).toEqual(['final'])
  // An answer with an unexpected format is a failure of the node only.
  nodes[1]?.behave(changes('eth_getTransactionReceipt', () => ({ status: '0x1' })))
  expect(await stages(3)).toEqual(['final'])
  await expect(stages(2)).resolves.toEqual(['seen'])
  nodes[1]?.behave()
  const unknown = parseTxId('evm', `0x${'1'.repeat(64)}`)
  expect(await readerOf(2).readTransaction(unknown, watched)).toEqual({ kind: 'unknown' })
})
