import { expect, test } from 'vitest'
import { parseJournalFile } from '../../src/config/journal-file.ts'

const written = `
date: 2026-01-31
reason: The service paid what it owed
reference: BANK-2026/17
lines:
  - { debit: assets:bank:main, credit: assets:receivable:service, asset: base/USDC, amount: "75.50" }
  - { debit: expenses:bank, asset: base/USDC, amount: 1 }
  - { credit: assets:bank:main, asset: base/USDC, amount: 1 }
`

const read = {
  date: new Date('2026-01-31T00:00:00Z'),
  reason: 'The service paid what it owed',
  reference: 'BANK-2026/17',
  lines: [
    { debit: 'assets:bank:main', credit: 'assets:receivable:service', asset: 'base/USDC', amount: '75.50' },
    { debit: 'expenses:bank', asset: 'base/USDC', amount: '1' },
    { credit: 'assets:bank:main', asset: 'base/USDC', amount: '1' },
  ],
}

test('a journal is written in YAML or in JSON', () => {
  expect(parseJournalFile(written)).toEqual({ file: read, faults: [] })
  const json = JSON.stringify({ ...read, date: '2026-01-31T00:00:00Z' })
  expect(parseJournalFile(json)).toEqual({ file: read, faults: [] })
})

test.each<[string, string, string, string]>([
  [
    'a negative amount',
    '"75.50"',
    '"-75.50"',
    'line 6, line 1 of the journal, amount: is negative: exchange debit and credit',
  ],
  [
    'a negative number',
    'amount: 1 }',
    'amount: -1 }',
    'line 7, line 2 of the journal, amount: is negative: exchange debit and credit',
  ],
  ['nothing', '"75.50"', '"0.00"', 'line 6, line 1 of the journal, amount: is zero'],
  [
    'a fraction without quotes',
    '"75.50"',
    '75.50',
    'line 6, line 1 of the journal, amount: must be an amount in quotes, like "12.50"',
  ],
  [
    'a power of ten',
    '"75.50"',
    '"1e3"',
    'line 6, line 1 of the journal, amount: must be an amount in quotes, like "12.50"',
  ],
  [
    'a line without sides',
    'debit: expenses:bank, ',
    '',
    'line 7, line 2 of the journal: needs a debit or a credit',
  ],
  [
    'a day that is none',
    '2026-01-31',
    '2026-02-30',
    'line 2, date: must be a date like 2026-01-31, or a time like 2026-01-31T15:00:00Z',
  ],
  ['a day before all chains', '2026-01-31', '2008-12-31', 'line 2, date: is before 2009'],
  ['a time without a zone', '2026-01-31', '2026-01-31T10:00', 'line 2, date: must be a date like'],
  [
    'no reason',
    'The service paid what it owed',
    '" "',
    'line 3, reason: must be one line of 1 to 1000 characters',
  ],
  ['a reference with blanks', 'BANK-2026/17', 'BANK 17', 'line 4, reference: must be letters, digits'],
  ['an unknown field', 'reason:', 'because:', 'line 3, the file: unknown key because'],
])('%s is refused with its line', (_what, ...[good, bad, fault]) => {
  const { file, faults } = parseJournalFile(written.replace(good, bad))
  expect(file).toBeNull()
  expect(faults.join('\n')).toContain(fault)
})

test('a time is read as it is written, with its zone', () => {
  const { file } = parseJournalFile(written.replace('2026-01-31', '2026-01-31T23:30:00-05:00'))
  expect(file?.date).toEqual(new Date('2026-02-01T04:30:00Z'))
})
