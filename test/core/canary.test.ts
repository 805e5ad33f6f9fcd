import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { canaryBody, canaryToken } from '../../src/core/canary.ts'

const token = randomBytes(32).toString('base64url')

test('the token of a canary is found in its body', () => {
  expect(canaryToken(canaryBody(token))).toBe(token)
  expect(JSON.parse(canaryBody(token).toString())).toEqual({ type: 'depositd.canary', token })
})

test.each([
  ['{}'],
  [`{"type":"depositd.canary","token":"${token.slice(1)}"}`],
  [`{"type":"depositd.canary","token":"${token.slice(1)}é"}`],
  [`{"type":"depositd.canary","token":"${token.slice(1)}""`],
  [` ${canaryBody(token).toString()}`],
  [`{"type":"deposit.settled","token":"${token}"}`],
])('%s has none', (body) => {
  expect(canaryToken(Buffer.from(body))).toBeNull()
})
