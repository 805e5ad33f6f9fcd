import { expect, test } from 'vitest'
import { isPastStateGone } from '../../../src/chain/refusals.ts'

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
