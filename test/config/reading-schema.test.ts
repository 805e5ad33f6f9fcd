import { expect, test } from 'vitest'
import { defaultReading } from '../../src/chain/options.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { environment, faultsOf, parse } from '../support/settings-text.ts'

const contract = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

const network = (changes: string) => `networks: [{ name: base, family: evm, chainId: 8453,
  assets: [{ symbol: USDC, contract: "${contract}", decimals: 6 }] ${changes} }]`

test.each<[string, string, string[]]>([
  [
    'a finality by depth that nobody answers for',
    network(', finality: { depth: 64 }'),
    [
      'networks.0.finality.depth: needs bookOnDepth: true beside it: a chain can replace any number of blocks, so a booked payment may be reversed',
    ],
  ],
  [
    'a finality by tag and depth',
    network(', finality: { tag: safe, depth: 64 }'),
    ['networks.0.finality: needs either a tag or a depth'],
  ],
  [
    'a finality of nothing',
    network(', finality: {}'),
    ['networks.0.finality: needs either a tag or a depth'],
  ],
  [
    'a tag that is booked on depth',
    network(', finality: { tag: safe, bookOnDepth: true }'),
    ['networks.0.finality.bookOnDepth: needs a depth, not a tag'],
  ],
  [
    'two faults of one network',
    `networks: [{ name: s, family: solana, finality: { tag: safe }, genesisHash: O0,
      assets: [{ symbol: SOL, contract: native, decimals: 9 }] }]`,
    [
      'networks.0.genesisHash: must be a hash in base58',
      'networks.0.finality: must be { tag: finalized } on Solana',
    ],
  ],
  [
    'a weaker finality of Solana',
    `networks: [{ name: s, family: solana, finality: { tag: safe },
      assets: [{ symbol: SOL, contract: native, decimals: 9 }] }]`,
    ['networks.0.finality: must be { tag: finalized } on Solana'],
  ],
  [
    'a genesis hash of an EVM network',
    network(', genesisHash: 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'),
    ['networks.0.genesisHash: is for Solana; an EVM network is identified by its chainId'],
  ],
  ['a quorum of nobody', network(', quorum: 0'), ['networks.0.quorum: must be at least 1']],
])('%s is a fault with its place', (_what, text, faults) => {
  expect(faultsOf(text)).toEqual(faults)
})

test('how a network is read has defaults, which are those of the readers', () => {
  const { networks } = parse('')
  for (const { reading } of networks) expect(reading).toEqual(defaultReading)
  expect(networks.at(-1)?.genesisHash).toBe('5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d')
})

test('how a network is read is a setting', () => {
  const tagged = parse(network(', finality: { tag: safe }, traces: always'))
  expect(tagged.networks[0]?.reading).toEqual({
    quorum: 1,
    finality: { kind: 'tag', tag: 'safe' },
    traces: 'always',
  })
  const deep = parse(network(', finality: { depth: 64, bookOnDepth: true }'))
  expect(deep.networks[0]?.reading?.finality).toEqual({ kind: 'depth', blocks: 64 })
})

test.each<[string, string[]]>([
  ['https://one.example', ['RPC_BASE must name at least 2 different nodes, the quorum of base; it names 1']],
  [
    'https://one.example, https://one.example/',
    ['RPC_BASE must name at least 2 different nodes, the quorum of base; it names 1'],
  ],
  ['https://one.example, https://two.example', []],
])('a quorum of two over %s', (urls, faults) => {
  const read = () => parseSettings({ ...environment, RPC_BASE: urls }, () => network(', quorum: 2'))
  if (faults.length === 0) expect(read().networks[0]?.reading?.quorum).toBe(2)
  else expect(read).toThrow(faults[0])
})

test('a quorum of a network that is not read is no fault', () => {
  const other = `${network(', quorum: 2').slice(0, -1)}, ${network('').slice(11).replace('base', 'other')}`
  const read = () =>
    parseSettings({ ...environment, RPC_BASE: undefined, RPC_OTHER: 'https://one.example' }, () => other)
  expect(read).not.toThrow()
})
