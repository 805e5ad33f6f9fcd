import { expect, test } from 'vitest'
import { canaryBody } from '../../src/core/canary.ts'
import { defaultService } from '../../src/core/evidence.ts'
import { divertCanaries } from '../../src/intake/divert-canaries.ts'

const given = 'a'.repeat(43)
const strange = 'b'.repeat(43)

function diverted() {
  const written: string[] = []
  const write = divertCanaries(
    (row) => {
      written.push(row.body.toString())
      return Promise.resolve('stored')
    },
    (token) => Promise.resolve(token === given),
  )
  const send = (body: Buffer) =>
    write({
      source: 'webhook',
      service: defaultService,
      sourceKey: 'event',
      body,
      headers: {},
      receivedAt: new Date(),
    })
  return { written, send }
}

test('what we sent ourselves is noted, and is not stored', async () => {
  const { written, send } = diverted()
  expect(await send(canaryBody(given))).toBe('canary')
  expect(written).toEqual([])
})

test('what only looks like it is stored like any other webhook', async () => {
  const { written, send } = diverted()
  expect(await send(canaryBody(strange))).toBe('stored')
  expect(await send(Buffer.from('{"type":"deposit.settled"}'))).toBe('stored')
  expect(written).toEqual([canaryBody(strange).toString(), '{"type":"deposit.settled"}'])
})

test('where a canary cannot be noted nothing is answered well', async () => {
  const write = divertCanaries(
    () => Promise.resolve('stored'),
    () => Promise.reject(new Error('no database')),
  )
  const row = {
    source: 'webhook' as const,
    service: defaultService,
    sourceKey: 'event',
    headers: {},
    receivedAt: new Date(),
  }
  await expect(write({ ...row, body: canaryBody(given) })).rejects.toThrow('no database')
})
