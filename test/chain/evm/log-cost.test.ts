import { expect, test } from 'vitest'
import { chooseLogStrategy, type LogMemory, newLogMemory, noteCost } from '../../../src/chain/evm/log-cost.ts'
import { noteAccepted, noteRefused } from '../../../src/chain/evm/range-planner.ts'

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
  noteAccepted(memory.spans.contracts, step, perBlock * 2000)
  noteAccepted(memory.spans.recipients, step, 1)
  return memory
}

test('one query for all recipients needs no choice', () => {
  expect(chooseLogStrategy(newLogMemory(), { ...range, queries: 1 })).toEqual({
    strategy: 'recipients',
    blocksMax: null,
  })
})

test('the contracts are measured on a short stretch first, and the recipients only where they may be cheaper', () => {
  const memory = newLogMemory()
  noteCost(memory, 50, 0)
  expect(chooseLogStrategy(memory, range)).toEqual({ strategy: 'contracts', blocksMax: 200n })
  noteAccepted(memory.spans.contracts, step, 5)
  expect(chooseLogStrategy(memory, range)).toEqual({ strategy: 'contracts', blocksMax: null })
  for (let busy = 0; busy < 9; busy++) noteAccepted(memory.spans.contracts, step, 2_000_000)
  expect(chooseLogStrategy(memory, range)).toEqual({ strategy: 'recipients', blocksMax: 200n })
})

test('a slow answer with few logs does not make logs dear', () => {
  const memory = newLogMemory()
  noteAccepted(memory.spans.contracts, step, 1400)
  noteCost(memory, 250, 140)
  expect(memory.msPerLog).toBeLessThan(0.1)
  expect(chooseLogStrategy(memory, range)).toEqual({ strategy: 'contracts', blocksMax: null })
})

test('an answer with many logs tells what a log costs', () => {
  const memory = newLogMemory()
  noteCost(memory, 100, 0)
  noteCost(memory, 4100, 9000)
  expect(memory.msPerLog).toBeGreaterThan(0.2)
})

test('a limit that one strategy met is known to the other', () => {
  const memory = newLogMemory()
  noteRefused(memory.spans.contracts, step, { limit: { kind: 'blocks', blocks: 10n }, logsMax: 10_000 })
  noteAccepted(memory.spans.contracts, { blocks: 10n, isTrial: true }, 0)
  chooseLogStrategy(memory, range)
  expect(memory.spans.recipients).toMatchObject({
    accepted: 10n,
    ceiling: { blocks: 2000n, named: 10n },
    density: null,
  })
})

test('a strategy that cannot be cheaper, whatever it brings, is not measured again', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.02, perBlock: 0.2 })
  const ways = Array.from({ length: 250 }, () => chooseLogStrategy(memory, range).strategy)
  expect(new Set(ways)).toEqual(new Set(['contracts']))
})

test('where contracts are quiet they are read whole, however fast the node is', () => {
  const memory = measured({ latencyMs: 1, msPerLog: 0.02, perBlock: 0.2 })
  expect(chooseLogStrategy(memory, range)).toEqual({ strategy: 'contracts', blocksMax: null })
})

test('where contracts are busy the recipients are named', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.05, perBlock: 100 })
  expect(chooseLogStrategy(memory, range)).toEqual({ strategy: 'recipients', blocksMax: null })
})

test('the same contract is read whole over few blocks, where each query costs a strategy to the node and back', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.05, perBlock: 100 })
  expect(chooseLogStrategy(memory, { ...range, blocks: 3n }).strategy).toBe('contracts')
})

test('the dearer strategy is measured again now and then, for what is dear may change', () => {
  const memory = measured({ latencyMs: 50, msPerLog: 0.05, perBlock: 100 })
  const ways = Array.from({ length: 250 }, () => chooseLogStrategy(memory, range))
  const tried = ways.filter(({ strategy }) => strategy === 'contracts')
  expect(tried).toEqual([
    { strategy: 'contracts', blocksMax: 200n },
    { strategy: 'contracts', blocksMax: 200n },
  ])
})
