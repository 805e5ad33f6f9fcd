import { expect, test } from 'vitest'
import { offerIn } from '../../../src/chain/refusals.ts'

test.each([
  ['erigon#5306', 'genesis is not traceable (code -32000)'],
  ['erigon#2581', `block ${'0'.repeat(64)} not found (code -32000)`],
  ['blockscout#2219', 'required historical state unavailable (reexec=128) (code -32000)'],
])('in the words of %s a node traces blocks, though not that one', (_source, problem) => {
  expect(offerIn(problem)).toBe(true)
})

test.each([
  ['foundry#9397', 'Method not found (code -32601)'],
  [
    'celo-blockchain#1721',
    'the method debug_traceBlockByNumber does not exist/is not available (code -32601)',
  ],
  ['mev-inspect-py#319', 'the method trace_block does not exist/is not available'],
  ['a plan without traces', 'debug_traceBlockByNumber is not available on the Free tier (code -32600)'],
  ['an endpoint without the add-on', 'this method requires the Trace Mode add-on'],
  ['a gateway', 'Unsupported method: trace_block (code -32004)'],
])('in the words of %s a node traces nothing', (_source, problem) => {
  expect(offerIn(problem)).toBe(false)
})

test.each([
  ['Too Many Requests (HTTP 429)'],
  ['50/second request limit reached - reduce calls per second or upgrade your account'],
  ['no complete answer within 15000 ms'],
  ['Internal error (code -32603)'],
])('"%s" says nothing of what is offered', (problem) => {
  expect(offerIn(problem)).toBeNull()
})
