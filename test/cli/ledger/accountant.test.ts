import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sealBooks } from '../../../src/jobs/books/seal-books.ts'
import { makeSigningKey } from '../../../src/ledger/checkpoint.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { addPeople, signers, signingKeys } from '../../support/people.ts'

let books: Books
let url: string
const login = `accountant_${process.pid}`

beforeAll(async () => {
  books = await openExampleBooks()
  await keepValuation(books.db, { currency: 'EUR', maxAgeMs: 3_600_000 })
  await withOwner(async (owner) => {
    await sql.raw(`create role ${login} login password 'of her own'`).execute(owner)
    await sql.raw(`grant depositd_accountant to ${login}`).execute(owner)
  })
  url = Object.assign(new URL(books.url), { username: login, password: 'of her own' }).href
})
afterAll(async () => {
  await withOwner((owner) => sql.raw(`drop role ${login}`).execute(owner))
  await books[Symbol.asyncDispose]()
})

async function withOwner(work: (owner: ReturnType<typeof openDatabase<Tables>>) => Promise<unknown>) {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  try {
    await work(owner)
  } finally {
    await owner.destroy()
  }
}

const asAccountant = (line: string) => runCommand(line, { DATABASE_URL: url })
const asOwner = (line: string) => runCommand(line, { DATABASE_URL: books.url })

test('before anything is sealed an accountant exports nothing, and is told why', async () => {
  const { status, err } = await asAccountant(`ledger export --format csv --out ${await temporaryFolder()}`)
  expect(status).toBe(2)
  expect(err).toContain('a read-only login exports up to the last seal, and nothing is sealed yet; ')
})

test('an accountant exports what is sealed, byte for byte as the owner does', async () => {
  await sealBooks(books.db, null)
  for (const options of ['', ' --owner shop', ' --account assets --period 2026-01']) {
    const [hers, theirs] = [join(await temporaryFolder(), 'a'), join(await temporaryFolder(), 'b')]
    const exported = await asAccountant(`ledger export --format csv --out ${hers}${options}`)
    expect(exported).toMatchObject({ status: 0, err: '' })
    expect(await asOwner(`ledger export --format csv --out ${theirs}${options}`)).toMatchObject({ status: 0 })
    for (const file of ['entries.csv', 'manifest.json'])
      expect(readFileSync(join(hers, file), 'utf8')).toBe(readFileSync(join(theirs, file), 'utf8'))
  }
})

test('an accountant verifies the log, and the rows of the tables that she may read', async () => {
  await sealBooks(books.db, null)
  const { status, out } = await asAccountant('ledger verify')
  expect(status).toBe(0)
  expect(out).toMatch(
    /^seals: \d+ seals, \d+ rows, 0 not sealed yet, \d tables that this login may not read$/m,
  )
})

test.each([
  'ledger checkpoints list',
  'ledger checkpoints export',
  'ledger balances',
  'ledger trial-balance --period 2026-01',
  'ledger trial-balance --valued',
  'ledger disposals',
  'ledger statement shop --to 2026-02-01',
  'ledger statement shop --to 2026-02-01 --currency',
  'ledger periods',
  'ledger journal show 1',
])('an accountant runs %s, with what the owner is told', async (line) => {
  await sealBooks(books.db, null)
  const hers = await asAccountant(line)
  expect(hers).toMatchObject({ status: 0, err: expect.not.stringContaining('denied') })
  expect(hers).toEqual(await asOwner(line))
})

test.each(['ledger seal', 'ledger close 2026-01 --break-glass erin'])(
  'what an accountant cannot run names the login that can: %s',
  async (line) => {
    const { status, out, err } = await asAccountant(line)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain('permission denied for ')
    expect(err).toContain(
      `${login} lacks the right; use the daemon's DATABASE_URL; for decisions, set DECISIONS_DATABASE_URL to a member of depositd_decider`,
    )
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  },
)

async function exportLine(): Promise<string> {
  return `ledger export --format csv --period 2026-01 --out ${join(await temporaryFolder(), 'out')}`
}

test('who takes data out stands in the audit log: by name with a key of a person, otherwise by login', async () => {
  await addPeople(books.owner)
  await asAccountant(await exportLine())
  await runCommand(await exportLine(), { DATABASE_URL: url, ...signingKeys.max })
  const forgedKey = { SIGNING_KEY: makeSigningKey('max', 'log').text, ADMINISTRATOR_KEY: signers.erin.key }
  await runCommand(await exportLine(), { DATABASE_URL: url, ...forgedKey })
  const { out } = await asAccountant('people log --action exported --json --limit 3')
  const entry = { action: 'exported', detail: 'csv 2026-01', login }
  expect(JSON.parse(out).items).toMatchObject([
    { ...entry, person: null },
    { ...entry, person: 'max' },
    { ...entry, person: null },
  ])
  const { out: first } = await asAccountant('people log --json --limit 1')
  const { items, next } = JSON.parse(first)
  const { out: second } = await asAccountant(`people log --json --limit 1 --after ${next}`)
  expect(JSON.parse(second).items[0].entry).not.toBe(items[0].entry)
  const reader = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'test accountant' })
  onTestFinished(() => reader.destroy())
  const forged = sql`insert into access_event (person, action, detail, login) values ('erin', 'exported', 'all', 'erin')`
  await expect(forged.execute(reader)).rejects.toThrow('permission denied')
})
