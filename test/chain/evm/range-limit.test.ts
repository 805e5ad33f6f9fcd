import { expect, test } from 'vitest'
import { isRangeLimit } from '../../../src/chain/evm/range-limit.ts'

/** Texts as published in providers' documentation or reported in issue trackers of client libraries. */
test.each([
  [
    'Alchemy',
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size',
  ],
  [
    'Alchemy, free',
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
  ],
  ['Infura', 'query returned more than 10000 results. Try with this block range [0x1, 0x2].'],
  ['QuickNode', 'eth_getLogs is limited to a 10,000 range'],
  ['1RPC', 'eth_getLogs is limited to 0 - 10000 blocks range'],
  ['Ankr', 'block range is too wide'],
  ['dRPC', 'ranges over 10000 blocks are not supported on freetier'],
  ['Chainstack', 'Block range limit exceeded. See more details at the documentation'],
  ['Cloudflare', 'Max range: 800'],
  ['PublicNode', 'exceed maximum block range: 50000'],
  ['Moralis', 'block range greater than 10000 max'],
  ['reth', 'query exceeds max block range 100000'],
  ['reth, results', 'query exceeds max results 20000, retry with the range 1-2'],
  ['Avalanche', 'requested too many blocks from 0 to 4000, maximum is set to 2048'],
  ['Polygon', 'eth_getLogs block range too large, range: 3500, max: 1000'],
  ['proxyd', 'backend response too large'],
  ['jsonrpsee', 'Response is too big'],
  ['geth', 'query timeout exceeded'],
  ['our own bound', 'answer exceeds 33554432 bytes'],
])('the range limit of %s is recognised', (_who, text) => {
  expect(isRangeLimit(text)).toBe(true)
})

test.each([
  'Too Many Requests (code 429)',
  'daily request count exceeded, request rate limited (code -32005)',
  'rate limit exceeded (code -32005)',
  'limit exceeded (code -32005)',
  'Your app has exceeded its compute units per second capacity',
  'project ID request rate exceeded',
  '50/second request limit reached - reduce calls per second or upgrade your account',
  'execution reverted',
  'header not found',
  'no whole answer within 15000 ms',
])('%j is no invitation to split', (text) => {
  expect(isRangeLimit(text)).toBe(false)
})
