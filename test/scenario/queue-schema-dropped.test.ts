import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allReconciled } from '../support/all-reconciled.ts'
import { runCommand } from '../support/command.ts'
import type { Finding } from '../support/doctor-world.ts'
import { patientPolicy } from '../support/patient-policy.ts'
import { dropQueueSchema } from '../support/queue.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

/** Readiness fails and work resumes within half a minute; the rest is the road of a deposit on a busy machine. */
const withinMs = 60_000

const stack = new AsyncDisposableStack()
let world: World

beforeAll(async () => {
  world = await startWorld({ networks: ['base', 'arbitrum'], policy: patientPolicy }, stack)
})
afterAll(() => stack.disposeAsync())

async function unready(): Promise<string | null> {
  const response = await fetch(`${world.daemon.opsUrl}/readyz`)
  const { unready: problems, warnings } = (await response.json()) as Record<string, { problem: string }[]>
  const [found] = [...(problems ?? []), ...(warnings ?? [])].filter(({ problem }) =>
    problem.includes('bullmq'),
  )
  return found?.problem ?? null
}

test('deposits are booked although the schema of the queue was dropped, and what lacks it is named', async () => {
  const pay = () => world.pay({ network: 'base', symbol: 'USDC', owner: 'shop', amount: '5' })
  const first = await pay()
  await until('a deposit before it is reconciled', () => allReconciled(world, [first]), withinMs)
  await dropQueueSchema((text) => sql.raw(text).execute(world.db))
  expect(await unready()).toContain('the schema of the queue: the schema bullmq is missing')
  const { out } = await runCommand('doctor --json', world.environment)
  const queue = (JSON.parse(out) as { checks: Finding[] }).checks.find(({ check }) => check === 'queue')
  expect(queue).toMatchObject({ state: 'warning', says: 'the schema bullmq is missing' })
  const second = await pay()
  await until('a deposit after it is reconciled', () => allReconciled(world, [second]), withinMs)
  expect(await unready()).toBeNull()
})
