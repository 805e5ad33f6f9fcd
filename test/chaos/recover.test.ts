import { expect, test } from 'vitest'
import { isStopped, running, withRole } from './daemons.ts'
import { holdResumed } from './liveness.ts'
import { sendOwn } from './own-webhooks.ts'
import { startChaosWorld } from './start-world.ts'

const withinMs = 300_000

test('a world that went wrong in every way works again, with what it began with', {
  timeout: withinMs,
}, async () => {
  await using stack = new AsyncDisposableStack()
  const world = await startChaosWorld({ backend: 'postgres' }, stack)
  const rolesOf = () =>
    running(world)
      .map(({ roles }) => roles)
      .toSorted()
  const usual = rolesOf()
  const [stopped, killed] = withRole(world, 'worker')
  const [http] = withRole(world, 'http')
  if (stopped === undefined || killed === undefined || http === undefined) throw new Error('nothing works')

  const added = await world.start('worker')
  const armed = await world.start('http', { dieAt: { failpoint: 'intake.received', nth: 1_000_000 } })
  await http.setClock(600_000)
  stopped.signal('SIGSTOP')
  await killed.kill()
  for (const { proxy } of world.networks) proxy.stall()
  world.service.proxy.cut()
  world.intake.proxy.cut()
  await world.service.faults.set({ failCallRate: 1 })
  await world.postgres.kill()
  world.postgres.proxy.throttle(1)

  await world.recover()
  expect(rolesOf()).toEqual(usual)
  expect([added, armed, killed].map((daemon) => daemon.isRunning())).toEqual([false, false, false])
  expect(stopped.isRunning() && isStopped(stopped)).toBe(false)
  expect(await sendOwn(world, 'recovered')).toMatchObject({ status: 202 })
  await holdResumed(world)
  await world.pay(3)
  await world.untilAtRest()
})
