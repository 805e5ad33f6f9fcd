import { expect, test } from 'vitest'
import { isRangeLimit } from '../../src/chain/evm/range-limit.ts'
import { isQuota } from '../../src/chain/quota.ts'

test.each([
  [
    'Alchemy',
    429,
    'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
  ],
  ['Infura', -32005, 'project ID request rate exceeded'],
  ['Infura, of a day', -32005, 'daily request count exceeded, request rate limited'],
  [
    'QuickNode',
    -32007,
    '50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
  ],
  ['Ankr', -32090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'],
  ['Base', -32016, 'over rate limit'],
  ['Solana, public', 429, 'Too many requests for a specific RPC call'],
  ['a plan, by the second', -32005, 'You have exceeded your RPS: rate limit'],
  ['a gateway', -32000, 'request throttled'],
  ['a plan', -32001, 'monthly request limit reached'],
])('%s asks to slow down (%i)', (_who, code, message) => {
  expect(isQuota(200, { code, message })).toBe(true)
  expect(isRangeLimit(`${message} (code ${code})`)).toBe(false)
})

test.each([
  [-32005, 'Node is behind by 42 slots'],
  [-32016, 'Minimum context slot has not been reached'],
  [-32004, 'Block not available for slot 17'],
  [-32000, 'header not found'],
  [-32000, 'execution reverted: insufficient credit'],
  [-32601, 'Method not found'],
  [-32005, 'limit exceeded'],
])('%i %s is another matter', (code, message) => {
  expect(isQuota(200, { code, message })).toBe(false)
})

test('the status alone says it, too', () => {
  expect(isQuota(429, null)).toBe(true)
  expect(isQuota(503, null)).toBe(false)
})
