import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type PieceReading, readInPieces } from '../../../src/chain/evm/in-pieces.ts'
import { type LogSpan, newLogSpan, nextStep, noteAccepted } from '../../../src/chain/evm/range-planner.ts'
import type { HeightRange } from '../../../src/chain/types.ts'

type Node = {
  blocksMax: bigint
  logsMax: number
  /** Whether a refusal names what would do. */
  reports: boolean
  logsOf: (piece: HeightRange) => number
}

type Reading = { range: HeightRange; node: Node; span?: LogSpan; isEnough?: (pieces: number) => boolean }

/** Reads from a node that exists only here, and counts what it was asked and what it refused. */
async function readFrom({ range, node, span = newLogSpan(), isEnough = () => false }: Reading) {
  const asked = { accepted: 0, refused: 0, atOnce: 0, atOnceMax: 0 }
  const read = async (piece: HeightRange): Promise<PieceReading<HeightRange>> => {
    asked.atOnceMax = Math.max(asked.atOnceMax, ++asked.atOnce)
    await new Promise(setImmediate)
    asked.atOnce--
    const { blocksMax, logsMax, reports, logsOf } = node
    const blocks = piece.to - piece.from + 1n
    const logs = logsOf(piece)
    if (blocks <= blocksMax && logs < logsMax) {
      asked.accepted++
      return { logs, result: piece }
    }
    asked.refused++
    return blocks > blocksMax
      ? { kind: 'blocks', blocks: reports ? blocksMax : null }
      : { kind: 'results', blocks: null }
  }
  const { results, reached } = await readInPieces({
    range,
    span,
    logsMax: node.logsMax,
    atOnce: 8,
    read,
    isEnough: () => isEnough(asked.accepted),
  })
  return { results, reached, asked }
}

const quiet = { logsMax: 10_000, reports: true, logsOf: () => 0 }
const manyBlocks = { from: 1n, to: 100_000n }

function expectWhole(pieces: readonly HeightRange[], { from, to }: HeightRange): void {
  let next = from
  for (const piece of pieces) {
    expect(piece.from).toBe(next)
    next = piece.to + 1n
  }
  expect(next).toBe(to + 1n)
}

test('whatever a node refuses, every block is read once, in order, and no query is larger than what is left', async () => {
  const anyNode = fc.record({
    blocksMax: fc.bigInt(1n, 3000n),
    logsMax: fc.integer({ min: 2, max: 50 }),
    reports: fc.boolean(),
    every: fc.bigInt(1n, 40n),
  })
  const anyRange = fc.tuple(fc.bigInt(0n, 100n), fc.bigInt(0n, 5000n))
  await fc.assert(
    fc.asyncProperty(anyNode, anyRange, async ({ every, ...node }, [from, more]) => {
      const range = { from, to: from + more }
      // One log in each block of a kind, so that one block is always accepted.
      const logsOf = (piece: HeightRange) => Number(piece.to / every - (piece.from - 1n) / every)
      const { results, reached } = await readFrom({ range, node: { ...node, logsOf } })
      expectWhole(results, range)
      expect(reached).toBe(range.to)
    }),
    { numRuns: 60 },
  )
})

describe.each([true, false])('where a refusal names the limit: %s', (reports) => {
  test.each([10n, 100n, 500n, 1000n, 2000n, 3500n, 10_000n])(
    'a limit of %i blocks is found with few requests',
    async (blocksMax) => {
      const { asked } = await readFrom({ range: manyBlocks, node: { ...quiet, blocksMax, reports } })
      const least = Math.ceil(100_000 / Number(blocksMax))
      // A limit is tried again after a thousand queries, since a plan may have changed.
      expect(asked.refused).toBeLessThanOrEqual((reports ? 1 : 5) + least / 1000)
      const allowed = least * 1.02 + (reports ? 1 : 8)
      expect(asked.accepted + asked.refused).toBeLessThanOrEqual(allowed)
    },
  )
})

test('what was learned serves the next reading: nothing is refused again', async () => {
  const span = newLogSpan()
  const node = { ...quiet, blocksMax: 800n }
  await readFrom({ range: manyBlocks, node, span })
  const { asked } = await readFrom({ range: manyBlocks, node, span })
  expect(asked).toMatchObject({ accepted: 125, refused: 0, atOnceMax: 8 })
})

test('a contract that was busy once and then is silent for long is still read', async () => {
  const span = newLogSpan()
  noteAccepted(span, { blocks: 100n, isTrial: false }, 100)
  for (let empty = 0; empty < 1100; empty++) {
    noteAccepted(span, { blocks: 100n, isTrial: false }, 0)
    expect(nextStep(span, 500n, 10_000).blocks).toBeLessThanOrEqual(500n)
    span.onTrial = false
  }
})

test('a first piece is read alone where how much there is to come is known by it, and else none', async () => {
  const known = { ...newLogSpan(), accepted: 10_000n, density: 0.5 }
  const order: string[] = []
  const reading = { range: manyBlocks, logsMax: 10_000, atOnce: 4, isEnough: () => false }
  const read = async ({ from }: HeightRange) => {
    order.push(`begins ${from}`)
    await new Promise(setImmediate)
    order.push(`ends ${from}`)
    return { logs: 0, result: from }
  }
  await readInPieces({ ...reading, span: { ...known }, read, isFirstAlone: true })
  expect(order.slice(0, 2)).toEqual(['begins 1', 'ends 1'])
  order.length = 0
  await readInPieces({ ...reading, span: { ...known }, read })
  expect(order.slice(0, 2)).toEqual(['begins 1', 'begins 10001'])
})

test('a node that names a limit which it does not keep is asked for less', async () => {
  const node = { ...quiet, blocksMax: 7n }
  const ceiling = { blocks: 2000n, named: 10n, isExplained: true, refusedAgain: 0, acceptedSince: 0 }
  const span = { ...newLogSpan(), ceiling }
  const { results } = await readFrom({
    range: { from: 1n, to: 1000n },
    node: { ...node, reports: false },
    span,
  })
  expectWhole(results, { from: 1n, to: 1000n })
  expect(span.accepted).toBeGreaterThanOrEqual(5n)
})

const dense = (height: bigint) => (height > 40_000n && height <= 60_000n ? 8 : 0.1)

function logsIn({ from, to }: HeightRange): number {
  let logs = 0
  for (let height = from; height <= to; height++) logs += dense(height)
  return logs
}

test('where answers grow full, queries shrink before they are refused, and grow again', async () => {
  const span = newLogSpan()
  const { results, asked } = await readFrom({
    range: manyBlocks,
    node: { blocksMax: 2000n, logsMax: 10_000, reports: true, logsOf: logsIn },
    span,
  })
  expectWhole(results, manyBlocks)
  // 40 for the quiet part, 16 for the other.
  expect(asked.accepted).toBeLessThan(100)
  expect(asked.refused).toBeLessThan(12)
  expect(span).toMatchObject({ accepted: 2000n, onTrial: false })
})

test('once enough was read no piece is begun, and what was read has no gap below where it ends', async () => {
  const { results, reached } = await readFrom({
    range: manyBlocks,
    node: { ...quiet, blocksMax: 100n },
    isEnough: (pieces) => pieces >= 5,
  })
  expectWhole(results, { from: 1n, to: reached })
  expect(reached).toBeLessThan(manyBlocks.to)
})

test('the first failure is thrown, and begins no further piece', async () => {
  let asked = 0
  const span = newLogSpan()
  const reading = readInPieces({
    range: manyBlocks,
    span,
    logsMax: 10,
    atOnce: 8,
    isEnough: () => false,
    read: () => {
      asked++
      return Promise.reject(new Error('away'))
    },
  })
  await expect(reading).rejects.toThrow('away')
  expect(asked).toBe(1)
  expect(span.onTrial).toBe(false)
})
