import { expect, test } from 'vitest'
import { isPastStateGone, offerIn } from '../../../src/chain/refusals.ts'

test.each([
  ['erigon#5306', 'genesis is not traceable (code -32000)'],
  ['erigon#2581', `block ${'0'.repeat(64)} not found (code -32000)`],
  ['blockscout#2219', 'required historical state unavailable (reexec=128) (code -32000)'],
])('%s: the node traces blocks, but not that one', (_source, problem) => {
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

test.each([
  [
    'go-ethereum#20874',
    'missing trie node ef7df5d88cb1614dc3f143879a653cd90717ee42e967c5fabbcd7505a968f314 (path )',
  ],
  ['bor#1303', 'missing trie node c6eb (path ) state 0xc6eb is not available, not found (code -32000)'],
  [
    'go-ethereum#32148',
    'state 0x669c5301b4a7abb7d1cd82d98f1c8a0d39e4dc0c3f807086c73e3172eb0c256f is not available',
  ],
  ['blockscout#2219', 'required historical state unavailable (reexec=128)'],
  [
    'nethermind#9408',
    'Nethermind.Trie.MissingTrieNodeException: Node A: P:2 H:0x992e is missing from the DB',
  ],
  ['parity-ethereum#11594', 'This request is not supported because your node is running with state pruning.'],
  ['anvil', 'BlockOutOfRangeError: block height is 32 but requested was 2 (code -32602)'],
])('the words of %s mean that old state is gone', (_source, problem) => {
  expect(isPastStateGone(problem)).toBe(true)
})

test.each(['header not found', 'execution reverted', 'Too Many Requests (HTTP 429)', 'block not found'])(
  '"%s" does not',
  (problem) => {
    expect(isPastStateGone(problem)).toBe(false)
  },
)
