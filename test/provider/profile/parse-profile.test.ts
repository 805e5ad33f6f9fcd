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
    'line 12, networks.M: moon is no network of the settings',
    'line 13, assets.U: mars is no network of the settings',
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
  [
    'a key that is unknown',
    smallest.replace('  id:', '  idd: x\n  id:'),
    'line 3, record: Unrecognized key: "idd"',
  ],
  [
    'a field that is missing',
    smallest.replace('    amount: amount\n', ''),
    'line 6, record.deposit.amount: is missing',
  ],
  ['no record', 'webhook: {}', 'line 1, record: is missing'],
  ['nothing', '', 'line 1, record: is missing'],
  ['a list', '- 1', 'line 1, the profile: is neither a path, nor a list of paths, nor keys with values'],
  [
    'a path that is none',
    smallest.replace('address: address', 'address: a..b'),
    'line 7, record.deposit.address.paths.0: is no path: names joined by dots',
  ],
  [
    'a number for a path',
    smallest.replace('address: address', 'address: 7'),
    'line 7, record.deposit.address: is neither a path, nor a list of paths, nor keys with values',
  ],
  [
    'a field without path or constant',
    smallest.replace('asset: token', 'asset: {}'),
    'line 8, record.deposit.asset.paths: is empty, and there is no "otherwise"',
  ],
  [
    'a state that is none',
    smallest.replace('settled', 'sttled'),
    'line 4, record.status.words.done: Invalid option: expected one of "observed"|"confirmed"|"settling"|"settled"|"held"|"refunded"|"failed"|"ignored"',
  ],
  [
    'YAML that is none',
    'record: [1\nid: 2',
    'line 2: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  ['a key that stands twice', `${smallest}record: {}\n`, 'line 10: Map keys must be unique'],
  [
    'an alias to nothing',
    'record: *what',
    'line 1: Unresolved alias (the anchor must be set before the alias): what',
  ],
])('%s is a fault that names its line', (_what, text, fault) => {
  expect(parseProfile(text)).toEqual({ profile: null, faults: [fault] })
})
