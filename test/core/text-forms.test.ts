import { expect, test } from 'vitest'
import {
  type AssetKey,
  assetCode,
  assetKey,
  assetNetwork,
  type Family,
  parseAddress,
  parseTxId,
  toTxId,
} from '../../src/core/asset.ts'
import { earliest, latest, parseTime } from '../../src/core/time.ts'
import { at, base, channelAddress, txId } from '../support/evidence.ts'

test('the key of an asset holds its network and its code', () => {
  const key = assetKey(base, channelAddress)
  expect([key, assetNetwork(key), assetCode(key)]).toEqual([`base/${channelAddress}`, base, channelAddress])
  expect(assetCode('x/ibc/1' as AssetKey)).toBe('ibc/1')
})

const evm = `0x${'aB'.repeat(20)}`
const hash = `0x${'aB'.repeat(32)}`
test.each<[string, (family: Family, text: string) => string, Family, string, string | RegExp]>([
  ['address', parseAddress, 'evm', evm, evm.toLowerCase()],
  ['address', parseAddress, 'evm', evm.slice(0, -1), /^address_malformed: family "evm", text "0x/],
  ['address', parseAddress, 'evm', `${evm}0`, /^address_malformed/],
  ['address', parseAddress, 'evm', `0${evm}`, /^address_malformed/],
  ['address', parseAddress, 'solana', 'A'.repeat(32), 'A'.repeat(32)],
  ['address', parseAddress, 'solana', 'A'.repeat(31), /^address_malformed/],
  ['address', parseAddress, 'solana', 'O'.repeat(500), /^address_malformed: family "solana", text "O{100}"$/],
  ['transaction', parseTxId, 'evm', hash, hash.toLowerCase()],
  ['transaction', parseTxId, 'evm', `0x${'0'.repeat(64)}`, /^transaction_malformed/],
  ['transaction', parseTxId, 'evm', 'pending', /^transaction_malformed: family "evm", text "pending"$/],
  ['transaction', parseTxId, 'solana', 'B'.repeat(64), 'B'.repeat(64)],
  ['transaction', parseTxId, 'solana', 'O'.repeat(500), /^transaction_malformed: .* text "O{100}"$/],
])('an %s is read: %#', (_what, ...[parse, family, text, wanted]) => {
  if (typeof wanted === 'string') expect(parse(family, text)).toBe(wanted)
  else expect(() => parse(family, text)).toThrow(wanted)
})

test('only hashes compare without regard to case', () => {
  expect([toTxId(hash), toTxId(`${hash}0`), toTxId(`x${hash}`)]).toEqual([
    hash.toLowerCase(),
    `${hash}0`,
    `x${hash}`,
  ])
  expect(toTxId(txId('pay'))).toBe(txId('pay'))
})

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:00.5+01:30', '2026-01-31T06:30:00.500Z'],
  ['2026-01-31T08:00:00', null],
  ['2026-02-30', null],
  ['2026-13-01', null],
  ['2026-01-31T25:00:00Z', null],
  ['x2026-01-31', null],
  ['2026-01-31x', null],
  ['31 January', null],
])('%s is the time %s', (text, time) => {
  expect(parseTime(text)?.toISOString() ?? null).toBe(time)
})

test('the earliest and the latest of known times', () => {
  const times = [null, at(2), at(1), null, at(3), at(2)]
  expect([earliest(times), latest(times)]).toEqual([at(1), at(3)])
  expect([earliest([null]), latest([])]).toEqual([null, null])
})
