import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/world.ts'
import { holdGrowing, holdResumed, type Living } from './liveness.ts'

const stack = new AsyncDisposableStack()
let world: World
let living: Living
let opsUrl: string

beforeAll(async () => {
  world = await startWorld({ networks: ['base'] }, stack)
  opsUrl = `http://127.0.0.1:${world.environment.OPS_PORT}`
  living = {
    async connect() {
      const client = new Client({ connectionString: world.settings.databaseUrl })
      await client.connect()
      return client
    },
    daemons: () => [{ name: 'the daemon', opsUrl, isRunning: () => true }],
  }
}, 120_000)
afterAll(() => stack.disposeAsync())

test('a daemon at work has resumed', { timeout: 120_000 }, async () => {
  // Without a young deposit, the service is asked once a minute; this one may be settled before the first look.
  await world.pay({ network: 'base', symbol: 'USDC', owner: 'savings', amount: '25' })
  expect(await holdResumed(living, 90_000)).toBeGreaterThan(0)
})

test('what does not go on is told of, and its lag grows', { timeout: 180_000 }, async () => {
  await world.service.stop()
  await expect(holdResumed(living, 5000)).rejects.toThrow(
    /no work 5000 ms after the recovery: .*poll was not read/,
  )
  await holdGrowing({ opsUrl }, 'depositd_poll_age_seconds{service="default"}')
  await expect(holdGrowing({ opsUrl }, 'depositd_no_such_series')).rejects.toThrow(/it is not told/)
})
