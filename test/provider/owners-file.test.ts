import { expect, test } from 'vitest'
import { readCsv, readOwnersFile } from '../../src/provider/owners-file.ts'

const head = 'id,network,address,forward_network,forward_asset,forward_recipient'
const forward = { network: 'arbitrum', asset: 'USDC', recipient: '0xff' }

test.each<[string, string, (readonly [number, ...string[]])[]]>([
  [
    'plain cells',
    'a,b\nc,d\n',
    [
      [1, 'a', 'b'],
      [2, 'c', 'd'],
    ],
  ],
  [
    'no line break at the end',
    'a,b\nc,d',
    [
      [1, 'a', 'b'],
      [2, 'c', 'd'],
    ],
  ],
  [
    'line breaks of Windows and of old',
    'a\r\nb\rc',
    [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ],
  ],
  ['a byte order mark', '\uFEFFa,b', [[1, 'a', 'b']]],
  [
    'quotes around commas, quotes and line breaks',
    '"a,b","c ""d"" e","f\ng"\nh,i,j',
    [
      [1, 'a,b', 'c "d" e', 'f\ng'],
      [3, 'h', 'i', 'j'],
    ],
  ],
  [
    'empty cells and empty lines',
    'a,,\n\n,,\nb,"",c\n',
    [
      [1, 'a', '', ''],
      [4, 'b', '', 'c'],
    ],
  ],
  ['white space around plain cells', ' a , b\n', [[1, 'a', 'b']]],
  ['nothing', '', []],
])('CSV with %s', (_what, text, rows) => {
  expect(readCsv(text)).toEqual({ kind: 'rows', rows: rows.map(([line, ...cells]) => ({ line, cells })) })
})

test('a quote that is not closed is told with its line', () => {
  expect(readCsv('a\nb,"c\nd')).toEqual({ kind: 'unclosed', line: 2 })
})

test('channels are read from CSV, their columns in any order', () => {
  const text = `network,id,address,forward_recipient,forward_asset,forward_network\nbase,shop,0x1,0xff,USDC,arbitrum\n`
  expect(readOwnersFile(text, { format: 'csv', kind: 'channel' })).toEqual({
    rows: [{ line: 2, id: 'shop', network: 'base', address: '0x1', forward }],
    faults: [],
  })
})

test('channels are read from JSON as the list prints them', () => {
  const row = {
    service: 'default',
    id: 'shop',
    network: 'base',
    address: '0x1',
    forward_network: 'arbitrum',
    forward_asset: 'USDC',
    forward_recipient: '0xff',
    book: 'same',
  }
  const text = JSON.stringify([row, { ...row, network: 'solana' }], null, 2)
  expect(readOwnersFile(text, { format: 'json', kind: 'channel' })).toEqual({
    rows: [
      { line: 2, id: 'shop', network: 'base', address: '0x1', forward },
      { line: 12, id: 'shop', network: 'solana', address: '0x1', forward },
    ],
    faults: [],
  })
})

test('when a channel or wallet was made may be said, as a day or a time', () => {
  const text =
    'id,network,address,created_at\na,base,0x1,2026-01-02\nb,base,0x2,\nc,base,0x3,2026-01-02T03:04:05Z\n'
  const { rows, faults } = readOwnersFile(text, { format: 'csv', kind: 'stable_wallet' })
  expect(rows.map(({ createdAt }) => createdAt)).toEqual([
    new Date('2026-01-02'),
    undefined,
    new Date('2026-01-02T03:04:05Z'),
  ])
  expect(faults).toEqual([])
})

test('wallets need no rule, and may have none', () => {
  expect(
    readOwnersFile('id,network,address\nsavings,base,0x2', { format: 'csv', kind: 'stable_wallet' }).rows,
  ).toEqual([{ line: 2, id: 'savings', network: 'base', address: '0x2', forward: null }])
  const withRule = readOwnersFile(`${head}\nsavings,base,0x2,base,USDC,0xff`, {
    format: 'csv',
    kind: 'stable_wallet',
  })
  expect(withRule.faults).toEqual([{ line: 2, problem: 'a StableWallet forwards nowhere' }])
  const listed =
    '[{"id":"savings","network":"base","address":"0x2","forward_network":null,"forward_asset":null,"forward_recipient":null}]'
  expect(readOwnersFile(listed, { format: 'json', kind: 'stable_wallet' }).faults).toEqual([])
})

test.each<['csv' | 'json', string, string[]]>([
  ['csv', '', ['1: the file is empty']],
  ['csv', head, ['1: the file is empty']],
  [
    'csv',
    'id,name\n',
    [
      '1: knows no column "name"; known are id, network, address, forward_network, forward_asset, forward_recipient, created_at, valid_from, service, book',
    ],
  ],
  [
    'csv',
    `${head}\na,base\n\nb,base,,arbitrum,USDC,0xff\n,,0x1,arbitrum,USDC,0xff`,
    ['2: has 2 cells, and the first line names 6', '4: address is missing', '5: id, network are missing'],
  ],
  ['csv', `${head}\na,base,"0x1`, ['2: a quote is not closed']],
  [
    'csv',
    `${head}\na\u0000b,base,0x1,arbitrum,USDC,0xff`,
    ['2: id is longer than 200 characters, or holds some that cannot be kept'],
  ],
  [
    'csv',
    `${head},created_at\na,base,0x1,arbitrum,USDC,0xff,yesterday\nb,base,0x2,arbitrum,USDC,0xff,2026-13-01`,
    [2, 3].map(
      (line) => `${line}: created_at is neither a day nor a time, like 2026-11-20 or 2026-11-20T08:00:00Z`,
    ),
  ],
  [
    'csv',
    `service,${head}\nacme,acme/a,base,0x1,arbitrum,USDC,0xff\nacme,b,base,0x2,arbitrum,USDC,0xff`,
    ['3: the id b is not of the service acme; write acme/b'],
  ],
  ['json', '{"id":"a"}', ['1: is no list of channels or wallets']],
  [
    'json',
    '[\n"a",\n{"id": 7},\n{"id":"a","name":"b"}]',
    ['2: is no object', '3: id is no text', '4: there is no field name'],
  ],
  [
    'json',
    '[\n{"id":\n',
    ['2: is no JSON: Flow map in block collection must be sufficiently indented and end with a }'],
  ],
])('all faults of %s are named with their lines: %j', (format, text, faults) => {
  const reading = readOwnersFile(text, { format, kind: 'channel' })
  expect(reading.faults.map(({ line, problem }) => `${line}: ${problem}`)).toEqual(faults)
})
