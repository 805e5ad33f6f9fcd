import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseProfile } from '../../../src/provider/profile/parse-profile.ts'

const folder = join(import.meta.dirname, '../../../profiles')

const smallest = `
record:
  id: id
  status: { paths: status, words: { done: settled } }
  deposit:
    network: network
    address: address
    asset: token
    amount: amount
`

test.each(readdirSync(folder))('%s, which comes along, is a profile', (name) => {
  expect(parseProfile(readFileSync(join(folder, name), 'utf8')).faults).toEqual([])
})

test('a word for a network that the settings do not know is a fault, where they are known', () => {
  const text = `${smallest}networks:\n  B: base\n  M: moon\nassets: { T: base/USDC, U: mars/USDC, V: USDC }\n`
  expect(parseProfile(text).faults).toEqual([])
  expect(parseProfile(text, new Set(['base'])).faults).toEqual([
    'line 12, networks.M: must name a network of the settings, not moon',
    'line 13, assets.U: must name a network of the settings, not mars',
  ])
})

test('the smallest profile needs the record alone', () => {
  expect(parseProfile(smallest).faults).toEqual([])
})

test('a path, a list of paths and the long form say the same', () => {
  const readings = ['id', '[id]', '{ paths: id }', '{ paths: [id] }'].map((form) =>
    parseProfile(smallest.replace('  id: id', `  id: ${form}`)),
  )
  for (const one of readings) expect(one).toEqual(readings[0])
})

test.each<[string, string, string]>([
  ['a key that is unknown', smallest.replace('  id:', '  idd: x\n  id:'), 'line 3, record: unknown key idd'],
  [
    'a field that is missing',
    smallest.replace('    amount: amount\n', ''),
    'line 6, record.deposit.amount: is missing',
  ],
  ['nothing', '', 'record: is missing'],
  [
    'a path that is none',
    smallest.replace('address: address', 'address: a..b'),
    'line 7, record.deposit.address.paths.0: must be a path: names joined by dots',
  ],
  [
    'a number for a path',
    smallest.replace('address: address', 'address: 7'),
    'line 7, record.deposit.address: must be a path, a list of paths, or keys with values',
  ],
  [
    'a field without path or constant',
    smallest.replace('asset: token', 'asset: {}'),
    'line 8, record.deposit.asset.paths: must not be empty without "otherwise"',
  ],
])('%s is an error that names its place', (_what, text, fault) => {
  expect(parseProfile(text)).toEqual({ profile: null, faults: [fault] })
})
