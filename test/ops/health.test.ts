import { expect, test } from 'vitest'
import type { Check } from '../../src/ops/server.ts'
import { startOpsServer as start } from '../support/ops-server.ts'

test('alive says that it turns, even where nothing else works', async () => {
  const url = await start({
    checks: [failing('database', 'gone')],
    read: () => Promise.reject(new Error('x')),
  })
  const response = await fetch(`${url}/livez`)
  expect([response.status, await response.text()]).toEqual([200, 'alive\n'])
})

const fine = (part: string): Check => ({ part, ask: () => Promise.resolve() })
const failing = (part: string, problem: string): Check => ({
  part,
  ask: () => Promise.reject(new Error(problem)),
})

test('ready is who has no failing part; who has, names each with its problem', async () => {
  const ready = await fetch(`${await start({ checks: [fine('database'), fine('queue')] })}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([200, { ready: true, unready: [], warnings: [] }])
  const checks = [failing('database', 'gone'), fine('queue'), failing('inbox', 'nothing waits 61 s')]
  const unready = await fetch(`${await start({ checks })}/readyz`)
  expect([unready.status, await unready.json()]).toEqual([
    503,
    {
      ready: false,
      unready: [
        { part: 'database', problem: 'gone' },
        { part: 'inbox', problem: 'nothing waits 61 s' },
      ],
      warnings: [],
    },
  ])
})

test('what works and should not stay as it is does not keep it from being ready', async () => {
  const warnings = [{ part: 'webhooks', problem: 'taken without a signature' }]
  const answer = await fetch(`${await start({ warnings: () => warnings })}/readyz`)
  expect([answer.status, await answer.json()]).toEqual([200, { ready: true, unready: [], warnings }])
})
