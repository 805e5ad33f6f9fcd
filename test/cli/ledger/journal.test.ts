import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Books } from '../../support/books.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { madeUpNetworks, settingsEnvironment } from '../../support/judging-environment.ts'
import { addPeople, runDecided } from '../../support/people.ts'

const folder = temporaryFolderOfFile()
let books: Books
let environment: Record<string, string>

beforeAll(async () => {
  books = await openExampleBooks()
  const settings = `${madeUpNetworks}accounts: { own: ['assets:bank:main'] }`
  environment = settingsEnvironment(books.url, folder, settings)
  await addPeople(books.owner)
})
afterAll(() => books[Symbol.asyncDispose]())

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const depositd = (line: string) => runDecided(line, environment)
const add = (text: string, options = '') =>
  depositd(`ledger journal add ${write('journal.yaml', text)} ${options}`.trim())

const collected = (reference: string, amount = '"7.50"') => `
date: 2026-01-03
reason: The service paid what it owed
reference: ${reference}
lines:
  - { debit: assets:bank:main, credit: assets:receivable:service, asset: base/USDC, amount: ${amount} }
`

const closeJanuary = () => depositd('ledger close 2026-01 --force --reason test')

test('a journal is added, shown and reversed, and each says by whom', async () => {
  const added = await add(collected('one'))
  const [, id = ''] =
    /^booked as journal (\d+), by erin, approved by max, decision \d+\nin the books of 2026-01\n/.exec(
      added.out,
    ) ?? []
  expect(added).toMatchObject({ status: 0 })
  expect(added.out).toContain('assets:bank:main  assets:receivable:service  7.500000  USDC')
  const reversed = await depositd(`ledger journal reverse ${id} --reason twice`)
  expect(reversed.out).toMatch(
    /^journal \d+ is reversed by journal \d+, by erin, approved by max, decision \d+\nin the books of 2026-01\n/,
  )
  const { out } = await depositd(`ledger journal show ${id}`)
  expect(out).toContain(`journal ${id}: manual, manual/one\nevent at 2026-01-03T00:00:00.000Z, recorded `)
  expect(out).toMatch(
    /by erin, approved by max, decision \d+: The service paid what it owed\nreversed by journal /,
  )
})

test('a journal of a deposit is shown as one document', async () => {
  const { out } = await depositd('ledger journal show 1 --json')
  expect(JSON.parse(out)).toMatchObject({
    id: '1',
    kind: 'deposit',
    deposit_id: '1',
    period: '2026-01',
    reason: null,
    transfers: [
      {
        debit: 'assets:in_transit:base',
        asset_symbol: 'USDC',
        amount: '100.000000',
        amount_base: '100000000',
      },
    ],
  })
})

test('a dry run shows what would be booked, and books nothing', async () => {
  const dry = await add(collected('dry'), '--dry-run')
  expect(dry.out).toMatch(/^valid, not booked: manual\/dry, in the books of 2026-01\n/)
  expect((await add(collected('dry'))).status).toBe(0)
})

test('what takes a journal of a closed month back says that it is late, and shows it before', async () => {
  const { out } = await add(collected('late'))
  const [, id = ''] = /booked as journal (\d+)/.exec(out) ?? []
  await closeJanuary()
  const reverse = `ledger journal reverse ${id} --reason twice`
  const dry = await depositd(`${reverse} --dry-run`)
  expect(dry.out).toMatch(
    /^valid, not booked: reversal\/manual\/late, in the books of 2026-02, late: the event was in 2026-01\n/,
  )
  expect(dry.out).toContain('assets:receivable:service  assets:bank:main  7.500000  USDC')
  expect((await depositd(`ledger journal show ${id}`)).out).not.toContain('reversed by')
  const reversed = await depositd(reverse)
  expect(reversed.out).toMatch(
    /reversed by journal \d+, by erin, approved by max, decision \d+\nin the books of 2026-02, late: the event was in 2026-01\n/,
  )
  const again = await depositd(`${reverse} --dry-run`)
  expect(again).toMatchObject({ status: 2, err: expect.stringContaining('was already reversed by journal') })
  await depositd('ledger reopen 2026-01 --reason test')
})

test('what was reversed is not booked again under its reference, and the refusal says so', async () => {
  const { out } = await add(collected('wrong'))
  const [, id = ''] = /booked as journal (\d+)/.exec(out) ?? []
  const reversed = await depositd(`ledger journal reverse ${id} --reason wrong`)
  const [, reversal = ''] = /reversed by journal (\d+)/.exec(reversed.out) ?? []
  expect((await add(collected('wrong', '"8"'))).err).toBe(
    `depositd: this was booked as journal ${id}, which was reversed by journal ${reversal}; give the correction a new reference; nothing was booked\n`,
  )
})

test.each<[string, () => ReturnType<typeof add>, string]>([
  [
    'one person for both',
    () => add(collected('x'), '--break-glass erin,erin'),
    'erin cannot approve their own decision',
  ],
  ['one person alone', () => add(collected('x'), '--break-glass erin'), 'this takes two people'],
  [
    'a file that is not there',
    () => depositd('ledger journal add none.yaml'),
    'the journal file cannot be read',
  ],
  [
    'an unknown asset',
    () => add(collected('x').replace('base/USDC', 'base/USD')),
    'asset base/USD does not exist',
  ],
  [
    'an unbalanced journal',
    () => add(collected('x').replace('debit: assets:bank:main, ', '')),
    'base/USDC is not balanced: debits 0.000000, credits 7.500000',
  ],
  ['the same reference again', () => add(collected('dry')), 'this was already booked as journal '],
])('%s is refused in one line', async (_what, run, problem) => {
  const { status, err } = await run()
  expect(status).toBe(2)
  expect(err).toContain(problem)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})

test.each(['show one', 'show 99999', 'reverse 99999 --reason no'])(
  'ledger journal %s is not found',
  async (line) => {
    const { status, err } = await depositd(`ledger journal ${line}`)
    expect({ status, err }).toMatchObject({
      status: 3,
      err: expect.stringMatching(/journal \S+ not found|there is no journal/),
    })
  },
)

test('journals are listed by month, kind and person, the newest first', async () => {
  const { out } = await add(collected('listed'), '--break-glass Zoe,max')
  const [, id = ''] = /booked as journal (\d+)/.exec(out) ?? []
  const lines = async (options: string) =>
    (await depositd(`ledger journal list ${options}`)).out.trimEnd().split('\n')
  const all = await lines('--limit 1000')
  expect(all[1]).toMatch(
    new RegExp(`^ +${id}  manual +2026-01-03T00:00:00.000Z  2026-01 +Zoe, max +not signed +The service`),
  )
  expect(all.at(-1)).toMatch(/^ +1 {2}deposit +2026-01-\d\dT[\d:.]+Z {2}2026-01 +1$/)
  expect(await lines('--by zoe')).toHaveLength(2)
  expect((await lines('--kind reversal --by erin --period 2026-02'))[1]).toMatch(
    /reversal.* 2026-02 late .*twice$/,
  )
  expect(
    (await lines('--kind deposit --limit 2')).slice(1, 3).every((line) => line.includes('  deposit  ')),
  ).toBe(true)
  expect(await lines('--period 2031-01')).toEqual(['no journals'])
  const json = JSON.parse((await depositd('ledger journal list --by zoe --json')).out)
  expect(json.items).toMatchObject([
    { id, posting_key: 'manual/listed', period: '2026-01', made_by: 'Zoe', reversed_by: null },
  ])
})
