import { expect, test } from 'vitest'
import type { ClaimStatus } from '../../src/core/evidence.ts'
import { type Policy, plainPolicy } from '../../src/core/policy.ts'
import { amount, balances, decided, delivered, type Observations, outcome } from '../support/by-policy.ts'
import {
  channelApproval,
  claim,
  delivery,
  payment,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
} from '../support/evidence.ts'

test.each<[string, bigint, Policy['tolerance'], string]>([
  ['nothing lacks', 99_900_000n, { amount: amount(0n), bps: 0 }, 'reconciled'],
  ['one base unit lacks', 99_899_999n, { amount: amount(0n), bps: 0 }, 'settled settlement_short'],
  ['as much lacks as the amount', 99_890_000n, { amount: amount(10_000n), bps: 0 }, 'reconciled'],
  [
    'more lacks than the amount',
    99_889_999n,
    { amount: amount(10_000n), bps: 0 },
    'settled settlement_short',
  ],
  ['as much lacks as the share', 99_800_100n, { amount: amount(0n), bps: 10 }, 'reconciled'],
  ['more lacks than the share', 99_800_099n, { amount: amount(0n), bps: 10 }, 'settled settlement_short'],
  ['the share is the larger', 99_800_100n, { amount: amount(1n), bps: 10 }, 'reconciled'],
  ['the amount is the larger', 99_700_000n, { amount: amount(200_000n), bps: 10 }, 'reconciled'],
  ['as much is over as the amount', 99_910_000n, { amount: amount(10_000n), bps: 0 }, 'reconciled'],
  [
    'more is over than the amount',
    99_910_001n,
    { amount: amount(10_000n), bps: 0 },
    'settled settlement_over',
  ],
])('tolerance: where %s', (_where, ...[base, tolerance, expected]) => {
  expect(outcome(delivered(base), { tolerance })).toBe(expected)
})

test.each<[string, bigint, Record<string, bigint>]>([
  ['lacks', 99_890_000n, { [`expenses:tolerance ${usdcOnArbitrum}`]: 10_000n }],
  ['is over', 99_910_000n, { [`expenses:tolerance ${usdcOnArbitrum}`]: -10_000n }],
])('what %s and is accepted has an account of its own, and what is stated is owed', (_what, base, own) => {
  const tolerance = { amount: amount(10_000n), bps: 0 }
  expect(balances(decided(delivered(base), { tolerance }).journals)).toEqual({
    [`assets:forwarded:arbitrum:${channelApproval.forward?.recipient} ${usdcOnArbitrum}`]: base,
    [`expenses:fees:service ${usdcOnArbitrum}`]: 100_000n,
    [`liabilities:deposits:channel:shop ${usdcOnArbitrum}`]: -100_000_000n,
    ...own,
  })
})

test('nothing is booked as lacking of what a webhook alone states', () => {
  const tolerance = { amount: amount(200_000n), bps: 0 }
  const stated = { settlement: { amount: amount(100_000_000n) } }
  const all = [webhook(stated), claim({ status: 'settling' }), payment(), delivery()]
  const { journals } = decided(all, { tolerance })
  expect(journals.map(({ kind }) => kind)).toEqual(['deposit', 'settlement'])
  expect(Object.keys(balances(journals)).filter((key) => key.includes('tolerance'))).toEqual([])
})

test('a tolerance that is taken back takes its booking back', () => {
  const short = delivered(99_890_000n)
  const before = decided(short, { tolerance: { amount: amount(10_000n), bps: 0 } }).journals
  const { journals } = decided(short, {}, before)
  expect(journals.map(({ key }) => key.split('/')[0])).toEqual(['reversal', 'settlement', 'shortage'])
  expect(balances([...before, ...journals])).toEqual(balances(decided(short, {}).journals))
})

const reported = (status: ClaimStatus): Observations => [
  webhook({ status, settlement: { amount: null, tx: null } }),
  claim({ status, settlement: { amount: null, tx: null } }),
  payment(),
]

test.each<[string, Observations, Partial<Policy>, string]>([
  [
    'a payment of the minimum nobody tells of',
    [payment()],
    { minimum: amount(100_000_000n) },
    'confirmed unreported',
  ],
  [
    'a smaller payment nobody tells of',
    [payment()],
    { minimum: amount(100_000_001n) },
    'confirmed below_minimum',
  ],
  [
    'a smaller payment that is told of',
    reported('confirmed'),
    { minimum: amount(100_000_001n) },
    'confirmed below_minimum',
  ],
  [
    'a smaller payment that is delivered all the same',
    delivered(99_900_000n),
    { minimum: amount(100_000_001n) },
    'reconciled',
  ],
  ['a smaller payment that is refunded', reported('refunded'), { minimum: amount(100_000_001n) }, 'refunded'],
  [
    'a smaller payment that is not final',
    [payment({ stage: 'seen' })],
    { minimum: amount(100_000_001n) },
    'observed',
  ],
  [
    'an asset that is not accepted and nobody tells of',
    [payment()],
    { supported: false },
    'confirmed unsupported_token',
  ],
  [
    'an asset that is not accepted and is told of',
    reported('confirmed'),
    { supported: false },
    'confirmed unsupported_token',
  ],
  [
    'an asset that is not accepted and is held',
    reported('held'),
    { supported: false },
    'held unsupported_token',
  ],
  [
    'an asset that is not accepted and is delivered all the same',
    delivered(99_900_000n),
    { supported: false },
    'reconciled',
  ],
  [
    'an asset that is not accepted, of less than the minimum',
    [payment()],
    { supported: false, minimum: amount(100_000_001n) },
    'confirmed unsupported_token',
  ],
])('%s', (_what, ...[observations, changes, expected]) => {
  expect(outcome(observations, changes)).toBe(expected)
})

test.each<[string, Observations, Partial<Policy>, string]>([
  ['below the minimum, unclaimed', [payment()], { minimum: amount(100_000_001n) }, 'liabilities:suspense'],
  ['not accepted, unclaimed', [payment()], { supported: false }, 'liabilities:suspense'],
  [
    'below the minimum, claimed',
    reported('confirmed'),
    { minimum: amount(100_000_001n) },
    'liabilities:deposits:channel:shop',
  ],
  ['not accepted, claimed', reported('confirmed'), { supported: false }, 'liabilities:deposits:channel:shop'],
])('what is %s is in the books: it lies at the address', (_what, ...[observations, changes, account]) => {
  expect(balances(decided(observations, changes).journals)).toEqual({
    [`assets:in_transit:base ${usdcOnBase}`]: 100_000_000n,
    [`${account} ${usdcOnBase}`]: -100_000_000n,
  })
})

const claimed = (api: bigint, hook = api): Observations => [
  webhook({ deposit: { amount: amount(hook) } }),
  claim({ deposit: { amount: amount(api) } }),
  payment(),
  delivery(),
]
const stated = (base: bigint): Observations => {
  const settlement = { amount: amount(base) }
  return [webhook({ settlement }), claim({ settlement }), payment(), delivery()]
}

test.each<[string, Observations, string]>([
  [
    'a claim in 18 decimals of a payment in 6',
    claimed(100_000_000_000_000_000_000n),
    'settled decimals_mismatch',
  ],
  ['a claim in fewer decimals', claimed(100n), 'settled decimals_mismatch'],
  ['one of two claims in other decimals', claimed(100_000_000n, 1_000_000_000n), 'settled decimals_mismatch'],
  ['a claim of another amount', claimed(100_000_001n), 'settled amount_mismatch'],
  [
    'claims that differ from each other, too',
    claimed(1_000_000_000n, 200_000_000n),
    'settled amount_mismatch',
  ],
  ['a claim of nothing', claimed(0n), 'settled amount_mismatch'],
  ['a delivery stated in other decimals', stated(99_900_000_000_000_000_000n), 'settled decimals_mismatch'],
  ['a delivery stated in other digits', stated(9_909n), 'settled settlement_over'],
  [
    'both legs in other decimals, told once',
    [
      claim({ deposit: { amount: amount(100n) }, settlement: { amount: amount(999n) } }),
      webhook({ deposit: { amount: amount(100n) }, settlement: { amount: amount(999n) } }),
      payment(),
      delivery(),
    ],
    'settled decimals_mismatch',
  ],
])('decimals: %s', (_what, observations, expected) => {
  expect(outcome(observations)).toBe(expected)
})

const { required: usual } = plainPolicy
const silent = { webhookStatuses: [] }
test.each<[string, Observations, Partial<Policy>, string]>([
  ['a webhook that nobody requires is missing', delivered(99_900_000n).slice(1), silent, 'reconciled'],
  [
    'a webhook that is required is missing',
    delivered(99_900_000n).slice(1),
    { ...silent, required: [...usual, 'settlement.webhook'] },
    'settled',
  ],
  [
    'it came',
    delivered(99_900_000n),
    { ...silent, required: [...usual, 'settlement.webhook'] },
    'reconciled',
  ],
  [
    'it tells of an earlier step',
    [webhook({ status: 'settling' }), ...delivered(99_900_000n).slice(1)],
    { ...silent, required: [...usual, 'settlement.webhook'] },
    'settled',
  ],
  [
    'it tells of an earlier step, and only that is required',
    [webhook({ status: 'settling' }), ...delivered(99_900_000n).slice(1)],
    { ...silent, required: [...usual, 'deposit.webhook'] },
    'reconciled',
  ],
])('required cells: where %s', (_where, ...[observations, changes, expected]) => {
  expect(outcome(observations, changes)).toBe(expected)
})
