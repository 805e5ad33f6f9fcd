import { expect, test } from 'vitest'
import { chooseWay, type LogMemory, newLogMemory, noteCost } from '../../../src/chain/evm/log-cost.ts'
import { noteRefused, noteTaken } from '../../../src/chain/evm/range-planner.ts'

const step = { blocks: 2000n, isTrial: false }
const range = { blocks: 10_000n, queries: 20, logsMax: 10_000 }

/** As a node shows itself: what it takes to ask it, what a log takes, and how many are in a block. */
function measured({
  latencyMs,
  msPerLog,
  perBlock,
}: {
  latencyMs: number
  msPerLog: number
  perBlock: number
}): LogMemory {
  const memory = newLogMemory()
  noteCost(memory, latencyMs, 0)
  noteCost(memory, latencyMs + msPerLog * 1000, 1000)
  noteTaken(memory.spans.contracts, step, perBlock * 2000)
  noteTaken(memory.spans.recipients, step, 1)
  return memory
}

test('one query for all recipients needs no choice', () => {
  expect(chooseWay(newLogMemory(), { ...range, queries: 1 })).toEqual({
    way: 'recipients',
    blocksMax: null,
  })
})

test('the contracts are measured on a short stretch first, and the recipients only where they may be cheaper', () => {
  const memory = newLogMemory()
  noteCost(memory, 50, 0)
  expect(chooseWay(memory, range)).toEqual({ way: 'contracts', blocksMax: 200n })
  noteTaken(memory.spans.contracts, step, 5)
  expect(chooseWay(memory, range)).toEqual({ way: 'contracts', blocksMax: null })
  for (let busy = 0; busy < 9; busy++) noteTaken(memory.spans.contracts, step, 2_000_000)
  expect(chooseWay(memory, range)).toEqual({ way: 'recipients', blocksMax: 200n })
})

test('a slow answer with few logs does not make logs dear', () => {
  const memory = newLogMemory()
  noteTaken(memory.spans.contracts, step, 1400)
  noteCost(memory, 250, 140)
  expect(memory.msPerLog).toBeLessThan(0.1)
  expect(chooseWay(memory, range)).toEqual({ way: 'contracts', blocksMax: null })
})

test('an answer with many logs tells what a log costs', () => {
  const memory = newLogMemory()
  noteCost(memory, 100, 0)
  noteCost(memory, 4100, 9000)
  expect(memory.msPerLog).toBeGreaterThan(0.2)
})

test('a limit that one way met is known to the other', () => {
  const memory = newLogMemory()
  noteRefused(memory.spans.contracts, step, { limit: { kind: 'blocks', blocks: 10n }, logsMax: 10_000 })
  noteTaken(memory.spans.contracts, { blocks: 10n, isTrial: true }, 0)
  chooseWay(memory, range)
  expect(memory.spans.recipients).toMatchObject({
    taken: 10n,
    ceiling: { blocks: 2000n, named: 10n },
    density: null,
  })
})

test('a way that cannot be cheaper, whatever it brings, is not measured again', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.02, perBlock: 0.2 })
  const ways = Array.from({ length: 250 }, () => chooseWay(memory, range).way)
  expect(new Set(ways)).toEqual(new Set(['contracts']))
})

test('where contracts are quiet they are read whole, however fast the node is', () => {
  const memory = measured({ latencyMs: 1, msPerLog: 0.02, perBlock: 0.2 })
  expect(chooseWay(memory, range)).toEqual({ way: 'contracts', blocksMax: null })
})

test('where contracts are busy the recipients are named', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.05, perBlock: 100 })
  expect(chooseWay(memory, range)).toEqual({ way: 'recipients', blocksMax: null })
})

test('the same contract is read whole over few blocks, where each query costs a way to the node and back', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.05, perBlock: 100 })
  expect(chooseWay(memory, { ...range, blocks: 3n }).way).toBe('contracts')
})

test('the dearer way is measured again now and then, for what is dear may change', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.05, perBlock: 100 })
  const ways = Array.from({ length: 250 }, () => chooseWay(memory, range))
  const tried = ways.filter(({ way }) => way === 'contracts')
  expect(tried).toEqual([
    { way: 'contracts', blocksMax: 200n },
    { way: 'contracts', blocksMax: 200n },
  ])
})
