import { expect, test } from 'vitest'
import { chooseLogStrategy, type LogMemory, newLogMemory } from '../../../src/chain/evm/log-cost.ts'
import { noteAccepted, noteRefused } from '../../../src/chain/evm/range-planner.ts'

const step = { blocks: 2000n, isTrial: false }
const range = { blocks: 10_000n, queries: 20, logsMax: 10_000 }

function measured(logsPerBlock: number): LogMemory {
  const memory = newLogMemory()
  noteAccepted(memory.spans.contracts, step, logsPerBlock * 2000)
  return memory
}

test.each([
  ['one query for all recipients needs no choice', newLogMemory(), { queries: 1 }, 'recipients of all'],
  ['the contracts are measured first', newLogMemory(), {}, 'contracts of 200'],
  ['quiet contracts are read whole', measured(0.2), {}, 'contracts of all'],
  ['of busy contracts the recipients are named', measured(100), {}, 'recipients of all'],
  ['a few blocks of a busy contract are read whole', measured(100), { blocks: 3n }, 'contracts of all'],
])('%s', (...[, memory, change, choice]) => {
  const { strategy, blocksMax } = chooseLogStrategy(memory, { ...range, ...change })
  expect(`${strategy} of ${blocksMax ?? 'all'}`).toBe(choice)
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

test('busy contracts are measured again after every hundred ranges', () => {
  const memory = measured(100)
  const choices = Array.from({ length: 250 }, () => chooseLogStrategy(memory, range))
  const measurements = choices.filter(({ strategy }) => strategy === 'contracts')
  expect(measurements).toEqual([
    { strategy: 'contracts', blocksMax: 200n },
    { strategy: 'contracts', blocksMax: 200n },
  ])
})
