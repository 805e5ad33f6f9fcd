import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRetryBackoff } from '../../../src/service/running/loop.ts'
import { createResumption } from '../../../src/service/transfers/start-transfers.ts'
import { sweepNetwork, workNetwork } from '../../../src/service/transfers/work-network.ts'
import { serviceSettings } from '../fixtures.ts'
import { openHandMade } from './hand-made-network.ts'

let world: Awaited<ReturnType<typeof openHandMade>>

beforeAll(async () => {
  world = await openHandMade()
})

afterAll(() => world.close())

/** As a process that was just started. */
function started() {
  const signing = { ...world.work, backoff: createRetryBackoff(Date.now) }
  const settings = serviceSettings(world.databaseUrl, [world.network.settings])
  const resumed = createResumption(signing, () => {})
  return { ...signing, settings, prices: world.prices, resumed }
}

test('what was stored by an earlier run is sent before anything new is signed', async () => {
  await world.channel('first')
  await world.convert()
  expect(await world.round()).toBe(1)
  await world.channel('second')
  await world.convert()
  world.chain.outcome = { kind: 'open', known: false }
  world.chain.asked = []
  await workNetwork(started(), { changed: () => {}, final: () => {} })()
  expect(world.chain.asked.slice(0, 2)).toEqual(['send', 'draft'])
  world.chain.asked = []
  const work = started()
  await sweepNetwork(work, { minimums: {} })
  expect(world.chain.asked.slice(0, 3)).toEqual(['send', 'send', 'draft'])
  world.chain.asked = []
  await work.resumed()
  expect(world.chain.asked).toEqual([])
})
