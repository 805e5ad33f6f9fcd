import { expect, test } from 'vitest'
import type { ComponentHealth } from '../../src/health.ts'
import type { ReadinessCheck, ReadinessReport } from '../../src/ops/readiness.ts'
import {
  emptyReading,
  readAs,
  siteOf,
  startOpsServer as start,
  startUnopened,
} from '../support/ops-server.ts'

const fine = (part: string): ReadinessCheck => check({ part, state: 'fine', says: 'answers' })
const failing = (part: string, problem: string): ReadinessCheck => ({
  part,
  ask: () => Promise.reject(new Error(problem)),
})

function check(...states: ComponentHealth[]): ReadinessCheck {
  return { part: states[0]?.part ?? '', ask: () => Promise.resolve(states) }
}

const never = () => new Promise<never>(() => undefined)

async function readiness(url: string): Promise<[number, ReadinessReport]> {
  const response = await fetch(`${url}/readyz`)
  expect(response.headers.get('cache-control')).toBe('no-store')
  return [response.status, (await response.json()) as ReadinessReport]
}

test('alive says that it turns, even where nothing else works', async () => {
  const url = await start({ checks: [{ part: 'database', ask: never }], read: never })
  const response = await fetch(`${url}/livez`)
  expect([response.status, await response.text()]).toEqual([200, 'alive\n'])
})

test('ready is who has no failing part; who has, names each with its problem', async () => {
  expect(await readiness(await start({ checks: [fine('database'), fine('queue')] }))).toEqual([
    200,
    { ready: true, unready: [], warnings: [], fine: ['database', 'queue'] },
  ])
  const vitals = check(
    { part: 'inbox', state: 'fault', says: 'the oldest waits 61 s' },
    { part: 'poll', state: 'fine', says: 'read' },
  )
  const checks = [failing('database', 'gone'), fine('queue'), vitals]
  expect(await readiness(await start({ checks }))).toEqual([
    503,
    {
      ready: false,
      unready: [
        { part: 'database', problem: 'gone' },
        { part: 'inbox', problem: 'the oldest waits 61 s' },
      ],
      warnings: [],
      fine: ['queue', 'poll'],
    },
  ])
})

test('what works and should not stay as it is does not keep it from being ready', async () => {
  const schema = check({ part: 'schema', state: 'warning', says: 'of a newer version' })
  expect(await readiness(await start({ checks: [schema] }))).toEqual([
    200,
    {
      ready: true,
      unready: [],
      warnings: [{ part: 'schema', problem: 'of a newer version' }],
      fine: [],
    },
  ])
})

test('what others do, and this process does not need, is told as a warning', async () => {
  const checks = [fine('database'), failing('queue', 'gone')]
  expect(await readiness(await start({ checks, isNeeded: (part) => part === 'database' }))).toEqual([
    200,
    { ready: true, unready: [], warnings: [{ part: 'queue', problem: 'gone' }], fine: ['database'] },
  ])
})

test('a part that never answers is named in time, and is asked once however many want to know', async () => {
  let asked = 0
  const hanging: ReadinessCheck = {
    part: 'database',
    ask() {
      asked++
      return new Promise(() => undefined)
    },
  }
  const url = await start({ checks: [hanging, fine('queue')] })
  const began = performance.now()
  const answers = await Promise.all([readiness(url), readiness(url), readiness(url)])
  expect(performance.now() - began).toBeLessThan(5000)
  for (const answer of answers)
    expect(answer).toEqual([
      503,
      {
        ready: false,
        unready: [{ part: 'database', problem: 'no answer within 2000 ms' }],
        warnings: [],
        fine: ['queue'],
      },
    ])
  expect(asked).toBe(1)
})

test('before it has started it is alive and not ready, and so it is again once it stops', async () => {
  const server = await startUnopened()
  const status = async (path: string) => (await fetch(server.url + path)).status
  expect(await status('/livez')).toBe(200)
  expect(await readiness(server.url)).toMatchObject([503, { unready: [{ part: 'start' }] }])
  expect(await status('/metrics')).toBe(200)
  expect(await status('/')).toBe(404)
  const shown = { checks: [fine('database')], isNeeded: () => true }
  server.open({
    read: readAs(emptyReading),
    readiness: shown,
    console: siteOf((_request, response) => void response.send('console')),
  })
  expect(await readiness(server.url)).toMatchObject([200, { ready: true }])
  expect(await status('/')).toBe(200)
  server.leave()
  expect(await readiness(server.url)).toMatchObject([
    503,
    { unready: [{ part: 'stop', problem: 'the process is stopping' }] },
  ])
  expect(await status('/livez')).toBe(200)
})
