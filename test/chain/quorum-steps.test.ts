import { beforeEach, describe, expect, test } from 'vitest'
import { type NodeHealth, newHealth, Pool } from '../../src/chain/pool.ts'
import { Quorum } from '../../src/chain/quorum.ts'
import type {
  ChainTransfer,
  HeightRange,
  RangeRequest,
  RangeResult,
  ScanRequest,
  ScanResult,
} from '../../src/chain/types.ts'
import { Fault } from '../../src/core/errors.ts'
import { toAmount } from '../../src/core/money.ts'
import { at, base, channelAddress, txId, usdcOnBase } from '../support/evidence.ts'

/** A node that reads so many heights at a time, and knows of a payment at each height that it has. */
type Node = {
  name: string
  host: string
  health: NodeHealth
  step: bigint
  final: bigint
  paid: ReadonlySet<bigint>
  /** A height at which it has something that cannot be read. */
  unread?: bigint
}

let nodes: Node[]
let read: string[]

const paid = new Set([3n, 8n, 17n])

beforeEach(() => {
  read = []
  nodes = [
    { name: 'one', host: 'one', health: newHealth(), step: 50n, final: 20n, paid },
    { name: 'two', host: 'two', health: newHealth(), step: 6n, final: 20n, paid },
    { name: 'three', host: 'three', health: newHealth(), step: 50n, final: 20n, paid },
  ]
})

function quorum(count = nodes.length): Quorum<Node> {
  return new Quorum({
    network: base,
    pool: new Pool({ nodes: nodes.slice(0, count), restMs: 1000, chainFaults: () => Promise.resolve([]) }),
    quorum: 2,
    finalHeight: ({ final }) => Promise.resolve(final),
  })
}

const cursor = { final: { height: 0n, hash: '0x0' }, seenHeight: 0n, trail: [] }
const watched = new Set<never>()

function scan(node: Node, request: ScanRequest): Promise<ScanResult> {
  const from = (request.cursor?.final.height ?? 0n) + 1n
  const { finalMax = node.final } = request
  const range = readFrom(node, { from, to: finalMax < node.final ? finalMax : node.final, watched })
  const final = { height: range.reached, hash: `0x${range.reached}` }
  return Promise.resolve({
    ...range,
    transfers: range.transfers.map((transfer) => ({ ...transfer, stage: 'final' as const })),
    cursor: { final, seenHeight: range.reached, trail: [] },
    headHeight: node.final,
    rewoundTo: null,
    more: range.reached < finalMax,
  })
}

function readFrom(node: Node, { from, to }: RangeRequest): RangeResult {
  const end = from + node.step - 1n
  const reached = end < to ? end : to
  read.push(`${node.name} ${from}..${reached}`)
  const heights = Array.from({ length: Number(reached - from) + 1 }, (_, place) => from + BigInt(place))
  return {
    transfers: heights.filter((height) => node.paid.has(height)).map(transferTo),
    movements: [],
    proved: provedBy(node, { from, to: reached }),
    dissent: [],
    reached,
    reachedHash: `0x${reached}`,
  }
}

function provedBy({ unread }: Node, { from, to }: HeightRange): HeightRange[] {
  if (unread === undefined || unread < from || unread > to) return [{ from, to }]
  return [
    { from, to: unread - 1n },
    { from: unread + 1n, to },
  ].filter((range) => range.from <= range.to)
}

function transferTo(height: bigint): ChainTransfer {
  return {
    network: base,
    tx: txId(height.toString()),
    index: '0',
    asset: usdcOnBase,
    from: null,
    to: channelAddress,
    amount: toAmount(height),
    height,
    blockHash: `0x${height}`,
    blockAt: at(0),
  }
}

const readRange = (node: Node, request: RangeRequest) => Promise.resolve(readFrom(node, request))
const coveredBy = ({ proved }: { proved: readonly HeightRange[] }) =>
  proved.map(({ from, to }) => `${from}..${to}`)
const heightsOf = ({ transfers }: { transfers: readonly { height: bigint }[] }) =>
  transfers.map(({ height }) => height)

test('where one node takes shorter steps than the one that leads, several of them make one', async () => {
  const result = await quorum(2).scan({ cursor, startHeight: null, watched }, scan)
  expect(heightsOf(result)).toEqual([3n, 8n, 17n])
  expect(result.cursor.final.height).toBe(20n)
  expect(read).toEqual(['one 1..20', 'two 1..6', 'two 7..12', 'two 13..18', 'two 19..20'])
  read.length = 0
  const range = await quorum(2).readRange({ from: 1n, to: 10n, watched }, readRange)
  expect(heightsOf(range)).toEqual([3n, 8n])
  expect(read).toEqual(['one 1..10', 'two 1..6', 'two 7..10'])
})

test('where the one that leads takes shorter steps, the others read as far as it did', async () => {
  nodes = nodes.slice(0, 2).toReversed()
  const result = await quorum().scan({ cursor, startHeight: null, watched }, scan)
  expect(heightsOf(result)).toEqual([3n])
  expect(result.more).toBe(true)
  expect(read).toEqual(['two 1..6', 'one 1..6'])
})

test('where the one that leads is outvoted, what the others read whole is the result', async () => {
  const [one] = nodes
  if (one !== undefined) one.paid = new Set([3n])
  const result = await quorum().scan({ cursor, startHeight: null, watched }, scan)
  expect(heightsOf(result)).toEqual([3n, 8n, 17n])
  expect(result.proved).toEqual([
    { from: 1n, to: 6n },
    { from: 7n, to: 12n },
    { from: 13n, to: 18n },
    { from: 19n, to: 20n },
  ])
  expect(result.dissent).toEqual([expect.stringMatching(/^one lacks .*block 8 .*block 17 /)])
})

test('heights that one of those who agree could not read whole are not proved', async () => {
  const [, two] = nodes
  if (two !== undefined) two.unread = 9n
  const result = await quorum(2).scan({ cursor, startHeight: null, watched }, scan)
  expect(result.cursor.final.height).toBe(20n)
  expect(coveredBy(result)).toEqual(['1..6', '7..8', '10..12', '13..18', '19..20'])
  expect(coveredBy(await quorum(2).readRange({ from: 8n, to: 10n, watched }, readRange))).toEqual([
    '8..8',
    '10..10',
  ])
})

test('who is behind is not asked for what it does not have', async () => {
  const [, two] = nodes
  if (two !== undefined) two.final = 9n
  const result = await quorum().scan({ cursor, startHeight: null, watched }, scan)
  expect(result.cursor.final.height).toBe(20n)
  expect(result.dissent).toEqual([])
  expect(read).toEqual(['one 1..20', 'three 1..20'])
})

test('where nothing is new, one node is enough to say so', async () => {
  const newest = { final: { height: 20n, hash: '0x20' }, seenHeight: 20n, trail: [] }
  await quorum().scan({ cursor: newest, startHeight: null, watched }, scan)
  expect(read).toEqual(['one 21..20'])
})

test('a stretch that is not final on enough nodes is not read', async () => {
  for (const node of nodes.slice(1)) node.final = 4n
  const result = await quorum().readRange({ from: 5n, to: 10n, watched }, readRange)
  expect(result).toMatchObject({ transfers: [], proved: [], reached: 4n })
  expect(read).toEqual([])
})

describe.each([1, 2])('where %i must agree', (agreeing) => {
  test.each(['is rewound', 'is lost'])(
    'a node of another chain, by which history %s, is passed over',
    async (way) => {
      let replaced = false
      for (const node of nodes) node.step = 50n
      const reported = new Quorum({
        network: base,
        pool: new Pool({
          nodes,
          restMs: 1000,
          chainFaults: ({ name }) =>
            Promise.resolve(replaced && name === 'one' ? ['one is of another chain'] : []),
        }),
        quorum: agreeing,
        finalHeight: ({ final }) => Promise.resolve(final),
      })
      const request = { cursor, startHeight: null, watched }
      const honest = await reported.scan(request, scan)
      replaced = true
      const result = await reported.scan(request, async (node, asked) => {
        const found = await scan(node, asked)
        if (node.name !== 'one') return found
        if (way === 'is lost') throw new Fault('history_lost', { network: base, problem: '', fix: '' })
        return { ...found, transfers: [], rewoundTo: 0n }
      })
      expect(heightsOf(result)).toEqual(heightsOf(honest))
      expect(result).toMatchObject({ rewoundTo: null, dissent: [] })
    },
  )
})
