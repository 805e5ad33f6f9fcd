import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seed } from '../fixtures.ts'
import { type Office, openOffice } from './office.ts'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})

afterAll(() => office.close())

test('killed between the answer and its saving, it sends the same bytes again after the lease', async () => {
  const receiver = await office.receiver()
  await office.happen()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/killed-courier.ts')], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  child.stdin.end(JSON.stringify({ databaseUrl: office.book.databaseUrl, seed }))
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  const [first] = receiver.taken()
  expect(first).toBeDefined()
  expect(await office.attemptsOf(receiver), 'the log tells of it').toMatchObject([
    { number: 1, duration_ms: null, status_code: null, problem: null },
  ])
  await office.deliver()
  expect(receiver.taken(), 'it may still be under way').toEqual([])
  office.advance(46)
  await office.deliver()
  const [second, ...more] = receiver.taken()
  expect(more).toEqual([])
  expect(second?.body).toBe(first?.body)
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  expect(await office.deliveriesOf(receiver)).toMatchObject([{ status: 'delivered', attempts: 2 }])
})
