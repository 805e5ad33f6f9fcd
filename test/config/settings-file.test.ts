import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import { environment, faultsOf, parse } from '../support/settings-text.ts'

const contract = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

test('a file that sets everything', () => {
  const settings = parse(`
networks:
  - name: base
    family: evm
    chainId: 8453
    startHeight: 17
    assets:
      - { symbol: USDC, contract: "${contract}", decimals: 6 }
      - { symbol: ETH, contract: native, decimals: 18 }
service:
  senders: { base: ["0x00000000000000000000000000000000000000EE"] }
  credit: { symbol: EURC, decimals: 2 }
policy: { webhookWithin: 500ms, apiWithin: 30s, chainWithin: 10m, reportWithin: 2h, settlementWithin: 0s }
schedule: { scan: "* * * * * *", poll: "0 * * * *", sweep: "*/10 * * * * *", pollOverlap: 999999h }
`)
  expect(settings).toMatchObject({
    networks: [
      {
        name: 'base',
        chainId: 8453,
        assets: [{ key: `base/${contract.toLowerCase()}`, decimals: 6 }, { key: 'base/native' }],
      },
    ],
    startHeights: new Map([['base', 17n]]),
    senders: new Set(['base/0x00000000000000000000000000000000000000ee']),
    creditAsset: { key: 'stable-wallet/EURC', decimals: 2 },
    policy: {
      webhookWithinMs: 500,
      apiWithinMs: 30_000,
      chainWithinMs: 600_000,
      reportWithinMs: 7_200_000,
      settlementWithinMs: 0,
    },
    schedule: { scan: '* * * * * *', poll: '0 * * * *', sweep: '*/10 * * * * *' },
    poll: { overlapMs: 999_999 * 3_600_000, youngMs: 3_600_000, quietMs: 60_000, sweepEveryMs: 21_600_000 },
  })
})

test("decimals that are left out are open; those of a coin are its family's", () => {
  const [network] = parse(`
networks:
  - name: base
    family: evm
    chainId: 8453
    assets: [{ symbol: USDC, contract: "${contract}" }, { symbol: ETH, contract: native }]
`).networks
  expect(network).toMatchObject({
    assets: [{ key: 'base/native', symbol: 'ETH', decimals: 18 }],
    unpinned: [{ key: `base/${contract.toLowerCase()}`, symbol: 'USDC' }],
  })
})

test.each(['', '# nothing yet', 'policy: {}', '---\n'])('%j is a file of defaults', (text) => {
  expect(parse(text).policy.webhookWithinMs).toBe(600_000)
})

const network = (changes: string) => `networks: [{ name: base, family: evm, chainId: 8453,
  assets: [{ symbol: USDC, contract: "${contract}", decimals: 6 }] ${changes} }]`

test.each<[string, string, string[]]>([
  ['a key that is unknown', 'polcy: {}', ['the file: unknown key polcy']],
  ['a key that is unknown below', 'policy: { webhookwithin: 1s }', ['policy: unknown key webhookwithin']],
  ['a key of a network that is unknown', network(', rpc: x'), ['networks.0: unknown key rpc']],
  [
    'two wrong durations',
    'policy: { webhookWithin: 10, apiWithin: 1d }',
    ['policy.webhookWithin: must be text', 'policy.apiWithin: must be a duration like 500ms, 30s, 10m or 2h'],
  ],
  [
    'a negative duration',
    'schedule: { pollOverlap: -1h }',
    ['schedule.pollOverlap: must be a duration like 500ms, 30s, 10m or 2h'],
  ],
  [
    'a duration without a unit',
    'schedule: { pollOverlap: "10" }',
    ['schedule.pollOverlap: must be a duration like 500ms, 30s, 10m or 2h'],
  ],
  [
    'a wrong cron expression',
    'schedule: { scan: often, poll: "61 * * * * *" }',
    [
      'schedule.scan: must be a cron expression, like "*/5 * * * * *" for every five seconds',
      'schedule.poll: must be a cron expression, like "*/5 * * * * *" for every five seconds',
    ],
  ],
  [
    'an EVM network without chain id',
    network('').replace('chainId: 8453,', ''),
    ['networks.0.chainId: is missing: it identifies an EVM network'],
  ],
  [
    'a network name in capitals',
    network('').replace('base', 'Base'),
    ['networks.0.name: must be lower-case letters, digits and _'],
  ],
  [
    'a contract that is no address',
    network('').replace(contract, 'USDC'),
    ['networks.0.assets.0.contract: must be "native" or an address of this family'],
  ],
  [
    'more decimals than can be kept',
    network('').replace('decimals: 6', 'decimals: 39'),
    ['networks.0.assets.0.decimals: must be at most 38'],
  ],
  [
    'a network that is described twice',
    `${network('').slice(0, -1)}, ${network('').slice(11)}`,
    ['networks.1.name: base is described twice'],
  ],
  [
    'an asset that is described twice',
    network('').replace(
      'decimals: 6 }]',
      `decimals: 6 }, { symbol: X, contract: "${contract.toLowerCase()}", decimals: 7 }]`,
    ),
    ['networks.0.assets.1.contract: is described twice'],
  ],
  ['a list in place of a map', '[1]', ['the file: must be keys with values']],
  ['no network', 'networks: []', ['networks: must not be empty']],
  [
    'a sender that is no address',
    'service: { senders: { base: ["0x1"], solana: [O0Il] } }',
    [
      'service.senders.base.0: must be an address of this network',
      'service.senders.solana.0: must be an address of this network',
    ],
  ],
  [
    'senders of an unknown network',
    `service: { senders: { bass: ["${contract}"] } }`,
    ['service.senders.bass: must be a network of the settings'],
  ],
])('%s is a fault with its place', (_what, text, faults) => {
  expect(faultsOf(text)).toEqual(faults)
})

test.each<[string, string, string]>([
  ['a key that comes twice', 'policy: {}\npolicy: {}', 'unique'],
  ['bad indentation', 'policy:\n  a: 1\n b: 2', 'line 3'],
  ['an alias without anchor', 'policy: *nowhere', 'nowhere'],
  ['a bomb of aliases', bomb(), 'alias'],
])('%s is a fault of one line', (_what, text, word) => {
  expect(faultsOf(text).join(' ').toLowerCase()).toContain(word)
})

/** Nine lists of nine aliases each, one inside the other: three hundred million words. */
function bomb(): string {
  const lists = Array.from({ length: 9 }, (_, depth) => {
    const inner = depth === 0 ? 'x' : `*a${depth - 1}`
    return `- &a${depth} [${Array.from({ length: 9 }, () => inner).join(', ')}]`
  })
  return lists.join('\n')
}

test('faults of the file stand beside those of the environment', () => {
  expect(() => parseSettings({ ...environment, HTTP_PORT: 'x' }, () => 'schedule: { scan: often }')).toThrow(
    /DEPOSITD_CONFIG, line 1, schedule.scan: must be a cron.*HTTP_PORT must be a port/,
  )
})
