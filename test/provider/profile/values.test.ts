import { assert, bigInt, boolean, property } from 'fast-check'
import { expect, test } from 'vitest'
import { document, read, readText } from '../../support/small-profile.ts'

const amountOf = (form: string, digits: string, more = '') =>
  readText(
    { '    amount: amount': `    amount: { paths: amount, ${form} }` },
    JSON.stringify(document).replace('"7"', digits).replace('{', `{${more}`),
  )

/** Whether this many millionths are what is read. */
const units = (amount: bigint) => ({ kind: 'claim', claim: { deposit: { amount } } })
const drift = { kind: 'schema_drift', path: 'amount' }

test.each<[string, string, object]>([
  ['as: units', '"1.5"', units(1_500_000n)],
  ['as: units', '"0.0000010"', units(1n)],
  ['as: units', '1e-6', units(1n)],
  ['as: units', '1.5E+3', units(1_500_000_000n)],
  ['as: units', '0.0000001', drift],
  ['as: units', '1e-7', drift],
  ['as: units', '-1', drift],
  ['as: units', '".5"', drift],
  ['as: units', '"1e99"', drift],
  [
    'as: base-units',
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    units(2n ** 256n - 1n),
  ],
  ['as: base-units', '115792089237316195423570985008687907853269984665640564039457584007913129639936', drift],
  ['as: base-units', '1e3', units(1000n)],
  ['as: base-units', '5.5', drift],
  ['as: base-units, decimals: 18', '"1500000000000000000"', units(1_500_000n)],
  ['as: base-units, decimals: 18', '"1500000000000000001"', drift],
  ['as: base-units, decimals: 2', '150', units(1_500_000n)],
])('an amount %s, written %s', (form, digits, expected) => {
  expect(amountOf(form, digits)).toMatchObject(expected)
})

test('decimals can stand in the record, and are refused where they are none', () => {
  const form = 'as: base-units, decimals: scale'
  expect(amountOf(form, '"150"', '"scale":2,')).toMatchObject(units(1_500_000n))
  expect(amountOf(form, '"150"', '"scale":"2",')).toMatchObject(units(1_500_000n))
  expect(amountOf(form, '"150"', '"scale":-2,')).toMatchObject({ kind: 'schema_drift', path: 'scale' })
  expect(amountOf(form, '"150"')).toMatchObject({
    kind: 'schema_drift',
    path: 'scale',
    problem: 'is missing',
  })
})

test('whatever the amount, in units or base units, as text or number, every digit of it is read', () => {
  const base = bigInt({ min: 0n, max: 2n ** 200n })
  assert(
    property(base, boolean(), (amount, isText) => {
      const digits = amount.toString().padStart(7, '0')
      const inUnits = `${digits.slice(0, -6).replace(/^0+(?=\d)/, '')}.${digits.slice(-6)}`
      const quote = isText ? '"' : ''
      expect(amountOf('as: units', quote + inUnits + quote)).toMatchObject(units(amount))
      expect(amountOf('as: base-units', `${quote}${amount}${quote}`)).toMatchObject(units(amount))
    }),
    { numRuns: 200 },
  )
})

test.each<[string, unknown, string | null]>([
  ['iso', '2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
  ['iso', '2026-02-03T04:05:06.123456789Z', '2026-02-03T04:05:06.123Z'],
  ['iso', '2026-02-03T04:05:06+02:00', '2026-02-03T02:05:06.000Z'],
  ['iso', '2026-02-03T04:05:06', null],
  ['iso', '0000-01-01T00:00:00Z', null],
  ['iso', '0001-01-01T00:00:00+01:00', null],
  ['iso', '2026-02-30T04:05:06Z', null],
  ['utc', '2026-02-03T04:05:06', '2026-02-03T04:05:06.000Z'],
  ['utc', '2026-02-03 04:05:06.5', '2026-02-03T04:05:06.500Z'],
  ['utc', '2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
  ['utc', '2026-02-03', null],
  ['s', 1770091506, '2026-02-03T04:05:06.000Z'],
  ['s', '1770091506.25', '2026-02-03T04:05:06.250Z'],
  ['s', 1770091506000000, null],
  ['ms', 1770091506123, '2026-02-03T04:05:06.123Z'],
  ['ms', '1770091506123', '2026-02-03T04:05:06.123Z'],
  ['ms', 'soon', null],
])('a time as %s, written %j', (as, at, expected) => {
  const reading = read({ '{ paths: at, presence: optional }': `{ paths: at, as: ${as} }` }, { at })
  if (expected === null) expect(reading).toMatchObject({ kind: 'schema_drift', path: 'at' })
  else expect(reading).toMatchObject({ claim: { occurredAt: new Date(expected) } })
})

test('nobody pays on the network of credits', () => {
  expect(read({}, { net: 'stable-wallet' })).toMatchObject({
    kind: 'schema_drift',
    path: 'net',
    problem: 'stable-wallet is where wallets are credited, and no network of payments',
  })
})
