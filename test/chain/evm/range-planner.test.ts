import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  giveUp,
  isSettled,
  type LogSpan,
  newLogSpan,
  nextStep,
  noteAccepted,
  noteRefused,
} from '../../../src/chain/evm/range-planner.ts'
import type { Limit } from '../../../src/chain/refusals.ts'

const logsMax = 10_000
const unexplained: Limit = { kind: 'unexplained', blocks: null }

/** Asks for so many blocks in all, of a node that takes at most that many at once. @returns each query's blocks */
function ask(span: LogSpan, { blocks, takesMax }: { blocks: bigint; takesMax: bigint }): bigint[] {
  const asked: bigint[] = []
  for (let left = blocks; left > 0n; ) {
    const step = nextStep(span, left, logsMax)
    asked.push(step.blocks)
    if (step.isTrial) span.onTrial = false
    if (step.blocks <= takesMax) {
      noteAccepted(span, step, 0)
      left -= step.blocks
    } else if (step.blocks === 1n) {
      giveUp(span)
      return asked
    } else noteRefused(span, step, { limit: unexplained, logsMax })
  }
  return asked
}

test('a refusal that nothing explains is halved, once one block has shown that the node does not fail', () => {
  const asked = ask(newLogSpan(), { blocks: 4000n, takesMax: 700n })
  expect(asked.slice(0, 6)).toEqual([4000n, 1n, 2000n, 1000n, 500n, 500n])
})

test('a node that fails costs two queries, and nothing is learned from it', () => {
  const span = newLogSpan()
  ask(span, { blocks: 20_000n, takesMax: 10_000n })
  const before = structuredClone(span)
  expect(ask(span, { blocks: 20_000n, takesMax: 0n })).toEqual([10_000n, 1n])
  expect(span).toEqual(before)
  expect(isSettled(span, logsMax)).toBe(true)
})

test('what is learned is at least half of what the node takes, and few queries are wasted', () => {
  const anyLimit = fc.bigInt({ min: 1n, max: 9_999n })
  fc.assert(
    fc.property(anyLimit, (takesMax) => {
      const span = newLogSpan()
      const blocks = takesMax * 400n
      const asked = ask(span, { blocks, takesMax })
      expect(span.accepted * 2n).toBeGreaterThanOrEqual(takesMax)
      // The first search, and what is tried again after 4, 16, 64 and 256 queries.
      expect(asked.filter((one) => one > takesMax).length).toBeLessThanOrEqual(14 + 5)
    }),
  )
})

test('the range grows again when the node takes more, to where it was', () => {
  const span = newLogSpan()
  ask(span, { blocks: 4000n, takesMax: 3n })
  expect(span.accepted).toBeLessThanOrEqual(3n)
  const asked = ask(span, { blocks: 200_000n, takesMax: 10_000n })
  expect(span.accepted).toBe(10_000n)
  expect(asked.length).toBeLessThan(5000)
})

test('a query that is as wide and is accepted elsewhere ends the search: it was not the number of blocks', () => {
  const span = newLogSpan()
  const step = nextStep(span, 5000n, logsMax)
  noteRefused(span, step, { limit: unexplained, logsMax })
  noteAccepted(span, step, 0)
  expect(span).toMatchObject({ accepted: 5000n, ceiling: null, search: null })
})
