import { expect, test } from 'vitest'
import { isQuota, type Limit, limitIn, limitOf, type RequestFailure } from '../../src/chain/refusals.ts'

const blocks = (most: bigint | null): Limit => ({ kind: 'blocks', blocks: most })
const results = (most: bigint | null): Limit => ({ kind: 'results', blocks: most })

/** Ponder's helper for refused log queries, and its tests against each provider (MIT). */
const ponder = 'ponder-sh/ponder packages/utils/src/getLogsRetryHelper.ts'

/** Who refuses, where the text was published, the text, and what is to be read in it. */
const texts: readonly [string, string, string, Limit][] = [
  [
    'Alchemy',
    'BobTheBuidler/dank_mids#772',
    'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x123c9b2, 0x123cba5]',
    blocks(500n),
  ],
  [
    'Alchemy, results',
    `${ponder}; docs.alchemy.com, eth_getLogs`,
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x112a880, 0x112a8c2]',
    results(67n),
  ],
  ['Infura', 'INFURA/infura#237', 'range 1000000 exceeds limit of 10000', blocks(10_000n)],
  [
    'Infura, results',
    `${ponder}; docs.infura.io, eth_getLogs`,
    'query returned more than 10000 results. Try with this block range [0x112A880, 0x112AA3F].',
    results(448n),
  ],
  ['QuickNode', 'OffchainLabs/arbitrum-sdk#609', 'eth_getLogs is limited to a 10,000 range', blocks(10_000n)],
  ['dRPC', 'drpc.org, free plan', 'ranges over 10000 blocks are not supported on free plan', blocks(10_000n)],
  ['Ankr', ponder, 'block range is too wide', blocks(null)],
  ['Ankr, TAC', ponder, 'maximum [from, to] blocks distance: 5000', blocks(5000n)],
  [
    '1RPC',
    'ponder-sh/ponder packages/utils/src/_test/1rpc.test.ts',
    'eth_getLogs is limited to a 1000 blocks range',
    blocks(1000n),
  ],
  ['1RPC, of old', '1rpc.io', 'eth_getLogs is limited to 0 - 50 blocks range', blocks(50n)],
  ['1RPC, size', ponder, 'response size should not greater than 10000000 bytes', results(null)],
  [
    'Chainstack',
    `${ponder}; docs.chainstack.com, limits`,
    'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits',
    blocks(null),
  ],
  ['Blast', ponder, 'eth_getLogs range exceeds the range allowed for your plan (5001 > 5000)', blocks(5000n)],
  ['Tenderly', 'bobanetwork/boba_legacy#827', 'range 9009594 is bigger than range limit 2000', blocks(2000n)],
  ['Cloudflare', ponder, 'Max range: 800', blocks(800n)],
  ['thirdweb', ponder, 'Maximum allowed number of requested blocks is 3500', blocks(3500n)],
  [
    'Coinbase',
    'ponder-sh/ponder packages/utils/src/_test/coinbase.test.ts',
    'please limit the query to at most 1000 blocks',
    blocks(1000n),
  ],
  ['PublicNode', ponder, 'exceed maximum block range: 50000', blocks(50_000n)],
  [
    'Polygon',
    'AlphaWallet/alpha-wallet-ios#3733',
    'eth_getLogs block range too large, range: 99991, max: 3500',
    blocks(3500n),
  ],
  ['Scroll', 'scroll-tech/go-ethereum#529', 'block range is bigger than maxBlockRange', blocks(null)],
  [
    'Morph',
    'enviodev/hyperindex#605',
    'block range is larger than max block range, block range = 5120, max block range = 5000',
    blocks(5000n),
  ],
  ['Candle', 'AlphaWallet/alpha-wallet-ios#5277', 'block range too high', blocks(null)],
  ['Merkle', ponder, 'eth_getLogs range is too large, max is 10k blocks', blocks(10_000n)],
  ['Avalanche', ponder, 'requested too many blocks from 0 to 4000, maximum is set to 2048', blocks(2048n)],
  ['Moonriver', ponder, 'block range is too wide (maximum 1024)', blocks(1024n)],
  ['Harmony', ponder, 'query must be smaller than size 1024', blocks(1024n)],
  ['Swell', ponder, 'block range greater than 100000 max', blocks(100_000n)],
  ['Somnia', ponder, 'block range exceeds 1000', blocks(1000n)],
  ['Hyperliquid', ponder, 'query exceeds max block range 1000', blocks(1000n)],
  ['Base', ponder, 'block range too large', blocks(null)],
  ['Optimism, size', ponder, 'backend response too large', results(null)],
  ['Arbitrum', ponder, 'logs matched by query exceeds limit of 10000', results(null)],
  ['LlamaRPC', ponder, 'query exceeds max results 20000', results(null)],
  [
    'reth',
    'paradigmxyz/reth#23810',
    'query exceeds max results 20000, retry with the range 25766988-25775072',
    results(8085n),
  ],
  ['jsonrpsee', 'paritytech/jsonrpsee, its maximum response size', 'Response is too big', results(null)],
  [
    'Infura, time',
    'docs.infura.io, eth_getLogs: ten seconds a query',
    'query timeout exceeded',
    results(null),
  ],
  ['our own bound', 'src/chain/json-rpc.ts', 'answer exceeds 33554432 bytes', results(null)],
]

test.each(texts)('the limit of %s is read (%s)', (...[, , text, limit]) => {
  expect(limitOf(text)).toEqual(limit)
  expect(limitOf(`${text} (code -32602)`)).toEqual(limit)
  // Else the same query would be sent again and again, only later.
  expect(isQuota(200, { code: -32005, message: text })).toBe(false)
})

test.each([
  'Too Many Requests (code 429)',
  'daily request count exceeded, request rate limited (code -32005)',
  'rate limit exceeded (code -32005)',
  'limit exceeded (code -32005)',
  'Your app has exceeded its compute units per second capacity',
  'project ID request rate exceeded',
  '50/second request limit reached - reduce calls per second or upgrade your account',
  'you are limited to 5 requests per second in this range',
  'batch of 100 exceeds the maximum: 50',
  'execution reverted',
  'header not found',
  'no complete answer within 15000 ms',
])('%j names no limit', (text) => {
  expect(limitOf(text)).toBeNull()
})

/** A query that failed in a way that no list knows, unless something of it is. */
const failure = (known: Partial<RequestFailure> = {}): RequestFailure => ({
  problem: 'zorp bliv (code -32000)',
  code: -32_000,
  status: 200,
  isAway: false,
  ...known,
})

test.each<[string, Partial<RequestFailure>]>([
  ['words that nobody knows', {}],
  ['no complete answer in time', { problem: 'no complete answer within 15000 ms', code: null, status: null }],
  ['too large a request', { problem: '<html>Too Large</html> (HTTP 413)', code: null, status: 413 }],
  ['a gateway that waited too long', { problem: '<html>Timeout</html> (HTTP 504)', code: null, status: 504 }],
  ['an error within the node', { problem: 'internal error (code -32603)', code: -32_603, status: 500 }],
  ['an offer of more', { problem: 'upgrade your API key for more (code -32000)' }],
])('%s is a reason to ask for fewer blocks', (_what, known) => {
  expect(limitIn(failure(known))).toEqual({ kind: 'unexplained', blocks: null })
})

test.each<[string, Partial<RequestFailure>]>([
  ['a connection that fails', { problem: 'connect ECONNREFUSED 127.0.0.1:1', isAway: true }],
  ['a status that asks for fewer requests', { status: 429 }],
  ['a status that says to come back later', { status: 503 }],
  ['a status that asks who it is', { status: 401 }],
  ['a status that forbids', { status: 403 }],
  ['a wrong key', { problem: 'invalid API key (code -32000)' }],
  ['a missing key', { problem: 'Must be authenticated! (code -32600)' }],
  ['a project that is not known', { problem: 'invalid project id (code -32002)' }],
  ['a method that is not there', { problem: 'method not found (code -32601)', code: -32_601 }],
  ['a quota', { problem: 'daily request count exceeded, request rate limited (code -32005)' }],
  ['credits that are spent', { problem: 'insufficient credits (code -32000)' }],
])('%s is no reason to ask for fewer blocks', (_what, known) => {
  expect(limitIn(failure(known))).toBeNull()
})

test.each<[string, Limit]>([
  ['block range limit exceeded, upgrade to increase your daily credits', blocks(null)],
  ['query exceeds max block range 1000; rate limit and quota depend on your plan', blocks(1000n)],
  ['Too many requests? No: eth_getLogs is limited to a 500 blocks range', blocks(500n)],
  ['response size exceeded, throttled plan', results(null)],
])('%j is a limit, and no quota', (text, limit) => {
  expect(limitIn(failure({ problem: text }))).toEqual(limit)
  expect(isQuota(200, { code: -32_005, message: text })).toBe(false)
  expect(isQuota(429, { code: 429, message: text })).toBe(false)
})

test.each(['maximum 50 requests per second for block range queries', 'block range queries: max 100 calls'])(
  '%j counts requests, and is no limit of blocks',
  (text) => expect(limitOf(text)).toBeNull(),
)

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
  expect(limitIn(failure({ problem: `${message} (code ${code})`, code }))).toBeNull()
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
