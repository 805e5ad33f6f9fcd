import { expect, test } from 'vitest'
import { parseProfile } from '../../../src/provider/profile/parse-profile.ts'
import { recipient, txId } from '../../support/evidence.ts'
import { read, readText } from '../../support/small-profile.ts'

const [first, second] = [txId('one'), txId('two')]

const fields = {
  network: '{ paths: chain, otherwise: base }',
  address: '{ paths: payouts.*.to, presence: optional }',
  asset: '{ paths: payouts.*.token, as: symbol, otherwise: USDC }',
  amount: '{ paths: payouts.*.value, as: units }',
  transaction: 'payouts.*.hash',
  fee: '{ paths: charged, as: units }',
}

function linesOf(changes: Partial<typeof fields> = {}) {
  const all = Object.entries({ ...fields, ...changes }).map(([name, field]) => `    ${name}: ${field}\n`)
  return { '    amount: amount\n': `    amount: amount\n  settlement:\n${all.join('')}` }
}

const item = (changes: object = {}) => ({ to: recipient, value: '1.5', hash: first, ...changes })
const other = item({ value: '0.25', hash: second })
const readPayouts = (payouts: unknown, changes: Partial<typeof fields> = {}) =>
  read(linesOf(changes), { payouts, charged: '0.1' })

const delivery = {
  network: 'base',
  address: recipient,
  asset: expect.stringMatching(/^base\/0x/) as unknown,
  fee: 100_000n,
}

test.each([
  ['one', [item()], { ...delivery, amount: 1_500_000n, tx: first }],
  ['two', [item(), other], { ...delivery, amount: 1_750_000n, tx: first, furtherTxs: [second] }],
  ['two in one transaction', [item(), item()], { ...delivery, amount: 3_000_000n, tx: first }],
  ['one under way', [item({ hash: null }), other], { ...delivery, amount: 1_750_000n, tx: second }],
  [
    'one without an amount',
    [item({ value: null }), other],
    { ...delivery, amount: null, tx: first, furtherTxs: [second] },
  ],
  ['none', [], null],
  ['null', null, null],
])('of payouts, %s, a record states one delivery', (_what, payouts, expected) => {
  const reading = readPayouts(payouts)
  expect(reading.kind === 'claim' ? reading.claim.settlement : reading).toEqual(expected)
})

test('a fee of each item is added up, and an amount outside the list is not', () => {
  const changes = { fee: '{ paths: payouts.*.cost, as: units }', amount: '{ paths: charged, as: units }' }
  const reading = readPayouts([item({ cost: '0.5' }), item({ cost: '0.25', hash: second })], changes)
  expect(reading).toMatchObject({ claim: { settlement: { fee: 750_000n, amount: 100_000n } } })
})

test('a list of transactions alone', () => {
  const changes = { address: `{ otherwise: '${recipient}' }`, transaction: 'payouts.*', amount: 'charged' }
  const reading = read(linesOf(changes), { payouts: [first, second], charged: 7 })
  expect(reading).toMatchObject({ claim: { settlement: { amount: 7n, tx: first, furtherTxs: [second] } } })
})

const drift = { kind: 'schema_drift' }

test.each<[string, unknown, object]>([
  ['a transaction', [item(), item({ hash: 'soon' })], { path: 'payouts.1.hash', value: 'soon' }],
  ['an amount', [item(), item({ value: 'much' })], { path: 'payouts.1.value', value: 'much' }],
  [
    'another address',
    [item(), item({ to: `0x${'ab'.repeat(20)}` })],
    { path: 'payouts.1.to', problem: 'differs from the address of item 0', value: `0x${'ab'.repeat(18)}a…` },
  ],
  ['no list', { hash: first }, { path: 'payouts', problem: 'is no list' }],
  [
    'too many',
    Array.from({ length: 101 }, () => item()),
    { path: 'payouts', problem: 'has 101 items; at most 100 are read' },
  ],
])('of payouts, %s that cannot be read is named by its path', (_what, payouts, expected) => {
  expect(readPayouts(payouts)).toMatchObject({ ...drift, ...expected })
})

test('a missing list is an error if the profile requires the address of its items', () => {
  const changes = { address: 'payouts.*.to' }
  expect(readPayouts(undefined, changes)).toMatchObject({
    ...drift,
    path: 'payouts.0.to',
    problem: 'is missing',
  })
})

test('paths of a webhook start at its record', () => {
  const text = JSON.stringify({
    data: {
      id: 'd1',
      state: 'done',
      net: 'base',
      to: recipient,
      token: 'USDC',
      amount: '7',
      payouts: [item(), { ...item(), hash: 'x' }],
    },
  })
  const lines = { ...linesOf(), '\nrecord:': '\nwebhook: { record: data }\nrecord:' }
  expect(readText(lines, text, 'webhook')).toMatchObject({ ...drift, path: 'data.payouts.1.hash' })
})

const base = (lines: string) => `
record:
  id: id
  status: state
  deposit: { address: to, asset: token, amount: ${lines.includes('deposit') ? 'a.*.b' : 'amount'} }
  settlement: ${lines.includes('deposit') ? '{ address: to, asset: token }' : lines}
`

test.each([
  ['in the deposit', 'deposit', 'record.deposit.amount.paths.0: must name one value'],
  [
    'twice in a path',
    '{ address: a.*.b.*, asset: token }',
    'must have at most one *, after the name of a list',
  ],
  [
    'of two lists',
    '{ address: a.*.to, asset: b.*.token }',
    'record.settlement.address: must name items of one list, b, as the other fields do',
  ],
])('a profile with * %s is refused', (_what, lines, expected) => {
  expect(parseProfile(base(lines)).faults.join('\n')).toContain(expected)
})
