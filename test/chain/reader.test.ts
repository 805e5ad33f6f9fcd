import { expect, test } from 'vitest'
import { defaultReading } from '../../src/chain/options.ts'
import { createReader } from '../../src/chain/reader.ts'
import type { NetworkSettings } from '../../src/chain/types.ts'
import type { NetworkName } from '../../src/core/asset.ts'

const settings: NetworkSettings = {
  name: 'base' as NetworkName,
  family: 'evm',
  chainId: 8453,
  rpcUrls: ['http://127.0.0.1:1'],
  assets: [],
}

test.each<[string, Partial<NetworkSettings>, string]>([
  ['no URL', { rpcUrls: [] }, 'RPC_BASE has no URL'],
  ['no URL on Solana', { family: 'solana', rpcUrls: [] }, 'RPC_BASE has no URL'],
  ['an empty URL', { rpcUrls: ['http://127.0.0.1:1', ''] }, 'RPC_BASE: URL 2 is not an http(s) URL'],
  ['another protocol', { rpcUrls: ['ws://127.0.0.1:1'] }, 'RPC_BASE: URL 1 is not an http(s) URL'],
  [
    'a quorum of more nodes than there are',
    { reading: { ...defaultReading, quorum: 2 } },
    'RPC_BASE has fewer URLs (1) than the quorum (2)',
  ],
  ['an EVM network without a chain id', { chainId: null }, 'network base has no chain id'],
])('%s is refused', (_what, change, problem) => {
  expect(() => createReader({ ...settings, ...change })).toThrow(problem)
})

test.each(['evm', 'solana'] as const)(
  'a reader of the family %s is made without asking anything',
  (family) => {
    expect(createReader({ ...settings, family }).network).toBe('base')
  },
)
