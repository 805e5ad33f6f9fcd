import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createGaugesReader } from '../../src/ops/gauges.ts'
import { emptyReading } from '../support/ops-server.ts'

const { live, totals } = emptyReading

function create(takesMs = 0) {
  const reads: string[] = []
  const readAs =
    <Value>(part: string, value: Value) =>
    async () => {
      reads.push(part)
      await sleep(takesMs)
      return value
    }
  const sources = {
    live: readAs('live', live),
    totals: readAs('totals', totals),
    scorecard: readAs('scorecard', []),
    queue: readAs('queue', { waiting: 4 }),
  }
  return { reads, read: createGaugesReader(sources, () => undefined) }
}

test('a reading that took long is used again, with its age', async () => {
  const { reads, read } = create(60)
  await read()
  await sleep(300)
  const first = await read()
  expect(reads.filter((part) => part === 'live')).toHaveLength(1)
  expect(first.live?.value).toBe(live)
  expect(first.live?.ageSeconds).toBeGreaterThan(0.3)
})

test('parts that are not asked for are not read, and are nothing that could not be read', async () => {
  const { reads, read } = create()
  expect(Object.keys(await read(['live', 'queue']))).toEqual(['live', 'queue'])
  expect(reads).toEqual(['live', 'queue'])
  expect(await read()).toMatchObject({ totals: { value: totals }, queue: { value: { waiting: 4 } } })
})
