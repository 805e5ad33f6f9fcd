import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import { plainPolicy } from '../../src/core/policy.ts'
import { environment, faultsOf, parse } from '../support/settings-text.ts'

const usdc = '0x00000000000000000000000000000000000000b1'
const dai = '0x00000000000000000000000000000000000000d1'

/** A file with two networks, whose policy is this. */
const file = (policy: string) => `
networks:
  - name: base
    family: evm
    chainId: 8453
    assets:
      - { symbol: USDC, contract: "${usdc}", decimals: 6 }
      - { symbol: DAI, contract: "${dai}", decimals: 18 }
      - { symbol: DAI, contract: "0x00000000000000000000000000000000000000d2", decimals: 18 }
      - { symbol: OPEN, contract: "0x00000000000000000000000000000000000000e1" }
      - { symbol: ETH, contract: native }
  - { name: arbitrum, family: evm, chainId: 42161, assets: [{ symbol: USDC, contract: "${usdc}", decimals: 6 }] }
policy:${policy}
`
const route = (text: string) => file(`\n  routes:\n    - ${text}`)
const read = (policy: string) => parse(file(policy))

test('what the policy does not say is usual', () => {
  expect(read(' {}').policy).toMatchObject(plainPolicy)
  expect(read(' {}').routes).toEqual([])
})

test('the policy for all takes what needs no asset', () => {
  const { policy } = read(`
  tolerance: { bps: 5 }
  required: [deposit.api, deposit.chain, settlement.api, settlement.chain, settlement.webhook]
  supported: false
  stuckAfter: 2h
  clockSkew: 30s
  refundWithin: 48h
  acceptsUnnamed: true`)
  expect(policy).toMatchObject({
    line: 'policy',
    tolerance: { amount: 0n, bps: 5 },
    required: [...plainPolicy.required, 'settlement.webhook'],
    supported: false,
    stuckAfterMs: 7_200_000,
    clockSkewMs: 30_000,
    refundWithinMs: 172_800_000,
    acceptsUnnamed: true,
  })
})

test('a route has the policy for all, but for what it says itself; amounts are in units of what it names', () => {
  const { policy, routes } = read(
    `
  apiWithin: 1h
  tolerance: { bps: 5 }
  routes:
    - match: { asset: { in: base/DAI2, out: arbitrum/USDC } }
      tolerance: { amount: '0.01' }
      fee: { model: fixed, amount: '1.5' }
      minimum: '0.000000000000000001'
    - match: { owner: { kind: channel, id: shop }, network: { in: base, out: arbitrum } }
      settlementWithin: 5m`.replace('base/DAI2', `base/${dai.toUpperCase().replace('0X', '0x')}`),
  )
  expect(routes).toEqual([
    {
      pattern: { assetIn: `base/${dai}`, assetOut: `arbitrum/${usdc}` },
      policy: {
        ...policy,
        line: 'policy.routes[0]',
        tolerance: { amount: 10_000n, bps: 0 },
        fee: { kind: 'fixed', amount: 1_500_000n },
        minimum: 1n,
      },
    },
    {
      pattern: { ownerKind: 'channel', ownerId: 'shop', networkIn: 'base', networkOut: 'arbitrum' },
      policy: { ...policy, line: 'policy.routes[1]', settlementWithinMs: 300_000 },
    },
  ])
  expect(policy).toMatchObject({ apiWithinMs: 3_600_000, tolerance: { amount: 0n, bps: 5 } })
})

test.each<[string, string, object]>([
  ['{ model: stated }', 'the coin of a network', { kind: 'stated' }],
  [
    '{ model: bps, bps: 10 }',
    'a share',
    { kind: 'bps', bps: 10, units: { paid: 10n ** 18n, delivered: 10n ** 6n } },
  ],
  [
    '{ model: band, lowBps: 8, highBps: 12, sample: 512 }',
    'a band',
    { kind: 'band', lowBps: 8, highBps: 12, sample: 512, units: { paid: 10n ** 18n, delivered: 10n ** 6n } },
  ],
])('the fee %s is %s, with the units of both assets', (fee, _what, model) => {
  const { routes } = parse(
    route(`{ match: { asset: { in: base/native, out: stable-wallet/USDC } }, fee: ${fee} }`),
  )
  expect(routes[0]?.policy.fee).toEqual(model)
  expect(routes[0]?.pattern).toMatchObject({ assetIn: 'base/native', assetOut: 'stable-wallet/USDC' })
})

const general = (text: string) => file(` { ${text} }`)
const amounts = 'must be an amount in quotes, like "0.01"'
const cells =
  'must include deposit.api, deposit.chain, settlement.api, settlement.chain: nothing is booked without them'

test.each<[string, string, string]>([
  [
    'an amount for all',
    general('minimum: "5"'),
    'policy.minimum: is in units of an asset: give it in a route whose match names asset.in',
  ],
  [
    'a tolerated amount for all',
    general('tolerance: { amount: "0.01" }'),
    'policy.tolerance.amount: is in units of an asset: give it in a route whose match names asset.out',
  ],
  [
    'a fixed fee for all',
    general('fee: { model: fixed, amount: "1" }'),
    'policy.fee.amount: is in units of an asset: give it in a route whose match names asset.out',
  ],
  [
    'a share for all',
    general('fee: { model: bps, bps: 1 }'),
    'policy.fee: compares what is paid with what is delivered: give it in a route whose match names asset.in and asset.out',
  ],
  ['a fraction without quotes', general('minimum: 0.5'), `policy.minimum: ${amounts}`],
  ['a negative amount', general('minimum: "-1"'), `policy.minimum: ${amounts}`],
  [
    'a model that is unknown',
    general('fee: { model: percent }'),
    'policy.fee.model: must be one of stated, fixed, bps, band',
  ],
  ['a cell that must agree is left out', general('required: [deposit.api]'), `policy.required: ${cells}`],
  ['a key that is unknown', general('minimun: "1"'), 'policy: unknown key minimun'],
  [
    'a key of a route that is unknown',
    route('{ match: { network: { in: base } }, minimun: "1" }'),
    'policy.routes.0: unknown key minimun',
  ],
  [
    'a route for nothing',
    route('{ match: {}, supported: false }'),
    'policy.routes.0.match: is empty: settings for all routes belong directly into policy',
  ],
  [
    'a service that is not in the settings',
    route('match: { service: acme }'),
    'policy.routes.0.match.service: must be a service of the settings: default',
  ],
  [
    'a network that is unknown',
    route('{ match: { network: { in: bsae } } }'),
    'policy.routes.0.match.network.in: must be a network of the settings: base, arbitrum',
  ],
  [
    'an asset that is unknown',
    route('{ match: { asset: { in: base/USDT } } }'),
    'policy.routes.0.match.asset.in: must be an asset of the settings: network/SYMBOL, network/contract or network/native',
  ],
  [
    'a symbol of two assets',
    route('{ match: { asset: { out: base/DAI } } }'),
    'policy.routes.0.match.asset.out: is the symbol of several assets: write the contract in its place',
  ],
  [
    'an asset without a network',
    route('{ match: { asset: { in: USDC } } }'),
    'policy.routes.0.match.asset.in: must be network/SYMBOL or network/contract',
  ],
  [
    'an asset of another network',
    route('{ match: { network: { in: base }, asset: { in: arbitrum/USDC } } }'),
    'policy.routes.0.match.asset.in: is not on the network base that the match names',
  ],
  [
    'more digits than the asset has',
    route('{ match: { asset: { in: base/USDC } }, minimum: "0.0000001" }'),
    'policy.routes.0.minimum: is "0.0000001", and USDC on base has 6 decimals',
  ],
  [
    'an amount of an asset whose decimals only the chain knows',
    route('{ match: { asset: { in: base/OPEN } }, minimum: "1" }'),
    'policy.routes.0.minimum: needs decimals: write those of OPEN on base into networks[].assets[].decimals',
  ],
  [
    'a band that ends before it begins',
    route(
      '{ match: { asset: { in: base/USDC, out: arbitrum/USDC } }, fee: { model: band, lowBps: 2, highBps: 1, sample: 9 } }',
    ),
    'policy.routes.0.fee: needs a lowBps of at most its highBps',
  ],
])('%s is a fault', (_what, text, fault) => {
  expect(faultsOf(text)).toEqual([fault])
})

test.each<[string, string, string, boolean]>([
  ['the same', '{ network: { in: base } }', '{ network: { in: base } }', true],
  [
    'one that names more',
    '{ network: { in: base } }',
    '{ network: { in: base }, owner: { id: shop } }',
    true,
  ],
  ['an asset of its network', '{ network: { in: base } }', '{ asset: { in: base/USDC } }', true],
  [
    'an asset of the network it delivers to',
    '{ network: { out: arbitrum } }',
    '{ asset: { out: arbitrum/USDC } }',
    true,
  ],
  [
    'one that names less',
    '{ network: { in: base }, owner: { id: shop } }',
    '{ network: { in: base } }',
    false,
  ],
  ['another network', '{ network: { in: base } }', '{ asset: { in: arbitrum/USDC } }', false],
  ['the other way', '{ network: { in: base } }', '{ asset: { out: base/USDC } }', false],
  ['an owner of the service', '{ service: default }', '{ owner: { id: shop } }', true],
  ['an owner of another service', '{ service: default }', '{ owner: { id: acme/shop } }', false],
  ['another owner', '{ owner: { id: shop } }', '{ owner: { id: bar } }', false],
])('behind a route, %s', (_what, ...[first, second, isCovered]) => {
  expect(faultsOf(file(`\n  routes:\n    - match: ${first}\n    - match: ${second}`))).toEqual(
    isCovered ? ['policy.routes.1.match: is never reached: policy.routes[0] fits all of it'] : [],
  )
})

test('a fault names its line', () => {
  const text = `policy:\n  apiWithin: 1h\n  routes:\n    - match: { network: { in: base } }\n      minimum: '1'\n      supported: maybe\n`
  const faultsWithLines = () => parseSettings(environment, () => text)
  expect(faultsWithLines).toThrow('DEPOSITD_CONFIG, line 6, policy.routes.0.supported: must be true or false')
  const other = () => parseSettings(environment, () => text.replace('maybe', 'true'))
  expect(other).toThrow('DEPOSITD_CONFIG, line 5, policy.routes.0.minimum: is in units of an asset')
  const unknown = () => parseSettings(environment, () => text.replace('supported: maybe', 'suported: true'))
  expect(unknown).toThrow('DEPOSITD_CONFIG, line 6, policy.routes.0: unknown key suported')
})

test('the start of a service belongs to every policy of its deposits', () => {
  const text = route('{ match: { network: { in: base } }, supported: false }')
  const { policy, routes } = parse(
    `${text}service: { historySince: 2026-01-31, webhooksSince: 2026-02-01T12:00:00Z }\n`,
  )
  const start = {
    historySinceMs: Date.parse('2026-01-31T00:00:00Z'),
    webhooksSinceMs: Date.parse('2026-02-01T12:00:00Z'),
  }
  const none = { historySinceMs: null, webhooksSinceMs: null }
  expect(policy).toMatchObject(none)
  expect(routes).toMatchObject([
    { pattern: { networkIn: 'base', service: 'default' }, policy: { supported: false, ...start } },
    { pattern: { networkIn: 'base' }, policy: { supported: false, ...none } },
    { pattern: { service: 'default' }, policy: { supported: true, ...start } },
  ])
  expect(faultsOf(`${file(' {}')}service: { historySince: last year }\n`)).toEqual([
    expect.stringContaining('service.historySince: must be a day like 2026-01-31'),
  ])
})
