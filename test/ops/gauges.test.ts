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
  const open = {
    ...live,
    inbox: { pending: 1, oldest: 10 },
    stages: [{ stage: 'finality', service: 'default', network: 'base', oldest: 20, unnamed: 20 }],
    streams: [{ name: 'poll', age: 30, progress: {} }],
  }
  const sources = {
    live: readAs('live', open),
    totals: readAs('totals', totals),
    scorecard: readAs('scorecard', []),
    queue: readAs('queue', { waiting: 4 }),
  }
  return { reads, read: createGaugesReader(sources, () => undefined) }
}

test('what was read a while ago is as much older by now, and what waits for nothing is not', async () => {
  const { reads, read } = create(60)
  await read()
  await sleep(300)
  const first = await read()
  expect(reads.filter((part) => part === 'live')).toHaveLength(1)
  const seconds = first.live?.ageSeconds ?? 0
  expect(seconds).toBeGreaterThan(0.3)
  expect(first.live?.value).toMatchObject({
    inbox: { pending: 1, oldest: 10 + seconds },
    stages: [{ oldest: 20 + seconds }],
    streams: [{ age: 30 + seconds }],
    sealAge: 0,
    events: { active: 0, paused: 0, stopped: 0, oldest: 0 },
    unsigned: 0,
    policyWaits: false,
    notifications: [],
  })
})

test('parts that are not asked for are not read, and are nothing that could not be read', async () => {
  const { reads, read } = create()
  expect(Object.keys(await read(['live', 'queue']))).toEqual(['live', 'queue'])
  expect(reads).toEqual(['live', 'queue'])
  expect(await read()).toMatchObject({ totals: { value: totals }, queue: { value: { waiting: 4 } } })
})
