import { expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import { createQuarantine, type QuarantinedDelivery, quarantineLimits } from '../../src/intake/quarantine.ts'

function delivery(source: string, body = '{}', second = 0): QuarantinedDelivery {
  return {
    service: defaultService,
    receivedAt: new Date(second * 1000),
    source,
    reason: 'signature_wrong',
    headers: {},
    body: Buffer.from(body),
  }
}

/** A quarantine whose store keeps in memory, and breaks while it is told to. */
function open(
  limits: Partial<typeof quarantineLimits> = {},
  onStep: (rows: number) => void = () => undefined,
) {
  const stored: string[] = []
  const dropped: string[] = []
  const errors: unknown[] = []
  let isBroken = false
  const quarantine = createQuarantine({
    store: async (rows) => {
      if (isBroken) throw new Error('no database')
      onStep(rows.length)
      stored.push(...rows.map(({ source, body }) => `${source} ${body.toString()}`))
    },
    limits: { ...quarantineLimits, everyMs: 1, ...limits },
    onDropped: (reason) => dropped.push(reason),
    onError: (error) => errors.push(error),
  })
  const breakStore = (broken: boolean) => {
    isBroken = broken
  }
  return { ...quarantine, stored, dropped, errors, breakStore }
}

test('deliveries are stored in their order, some time after the answer', async () => {
  const { keep, stored } = open()
  keep(delivery('a', '1'))
  keep(delivery('b', '2'))
  expect(stored).toEqual([])
  await expect.poll(() => stored).toEqual(['a 1', 'b 2'])
  keep(delivery('a', '3'))
  await expect.poll(() => stored).toEqual(['a 1', 'b 2', 'a 3'])
})

test('a client that sends too many is cut off, others are not, and may send again later', async () => {
  const { keep, stop, stored, dropped } = open({ perSource: { perSecond: 1, burst: 2 } })
  for (const body of ['1', '2', '3', '4']) keep(delivery('flood', body))
  keep(delivery('quiet', '5'))
  keep(delivery('flood', '6', 1))
  await stop()
  expect(stored).toEqual(['flood 1', 'flood 2', 'quiet 5', 'flood 6'])
  expect(dropped).toEqual(['rate', 'rate'])
})

test('many clients together are cut off too', async () => {
  const { keep, stop, stored, dropped } = open({ total: { perSecond: 1, burst: 3 } })
  for (let client = 0; client < 10; client++) keep(delivery(`${client}`))
  await stop()
  expect([stored.length, dropped.length]).toEqual([3, 7])
})

test.each([
  ['rows', { waitingMax: 2 }],
  ['bytes', { waitingBytesMax: 4 }],
])(
  'while the database is away what waits is bounded in %s, and is stored when it is back',
  async (_what, bounds) => {
    const { keep, stored, dropped, errors, breakStore } = open(bounds)
    breakStore(true)
    for (const body of ['"1', '"2', '"3']) keep(delivery('a', body))
    await expect.poll(() => errors.length).toBeGreaterThan(1)
    expect(dropped).toEqual(['full'])
    breakStore(false)
    await expect.poll(() => stored).toEqual(['a "1', 'a "2'])
    keep(delivery('a', '"4'))
    await expect.poll(() => stored).toContain('a "4')
  },
)

test('what waits is stored a few bytes at a time, and in its order', async () => {
  const steps: number[] = []
  const { keep, stop, stored } = open({ storedBytesMax: 4 }, (rows) => steps.push(rows))
  for (const body of ['12', '34', '5', '678901', '2', '3']) keep(delivery('a', body))
  await stop()
  expect(stored).toEqual(['a 12', 'a 34', 'a 5', 'a 678901', 'a 2', 'a 3'])
  expect(steps).toEqual([2, 1, 1, 2])
})

test('stopping stores what waits', async () => {
  const { keep, stop, stored } = open({ everyMs: 60_000 })
  keep(delivery('a', '1'))
  await stop()
  expect(stored).toEqual(['a 1'])
})
