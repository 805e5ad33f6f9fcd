import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { openDatabase } from '../../src/store/database.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import { readText } from '../docs/pages.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { claim, delivery, payment, txId, webhook } from '../support/evidence.ts'
import { temporaryFolder } from '../support/folder.ts'
import { madeUpNetworks, settingsEnvironment } from '../support/judging-environment.ts'
import { fences } from '../support/markdown.ts'
import { ownEvent, ownRecord, vocabulary } from '../support/own-payloads.ts'
import { addPeople, runDecided } from '../support/people.ts'
import { ownProfile } from '../support/profile.ts'
import { tamper } from '../support/tamper.ts'

let books: Books
let owner: Kysely<Tables>
let environment: Record<string, string>

/** One deposit that is reconciled, and one that the service did not tell of. Payloads as the service writes them. */
beforeEach(async () => {
  books = await openBooks({ readClaim: createClaimReader(ownProfile, vocabulary), now: () => new Date() })
  owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  const kept = [
    { source: 'api' as const, body: ownRecord(claim(), 'settled') },
    { source: 'webhook' as const, body: ownEvent(webhook(), { type: 'deposit.settled', status: 'settled' }) },
  ]
  await appendInbox(
    books.db,
    kept.map(({ source, body }, place) => ({
      source,
      sourceKey: `${place}`,
      body: Buffer.from(JSON.stringify(body)),
      headers: {},
      receivedAt: claim().receivedAt,
    })),
  )
  await books.receive(payment(), delivery(), payment({ tx: txId('other') }))
  await books.settle()
  environment = settingsEnvironment(books.url, await temporaryFolder(), madeUpNetworks)
})
afterEach(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

const depositd = (line: string) => runCommand(line, environment)

test('books that are what the evidence says are told so, with the digest of both', async () => {
  const { status, out, err } = await depositd('rebuild --verify')
  const [live, rebuilt, ...others] = out.split('\n')
  expect(live).toMatch(/^live {5}sha256 [0-9a-f]{64}$/)
  expect(rebuilt).toBe(live?.replace('live   ', 'rebuilt'))
  expect(others).toEqual(['the books agree with the evidence: 2 compared', ''])
  expect(err).toBe('observations read: 5 of 5\ngroups decided: 2 of 2\n')
  expect(status).toBe(0)
})

test('docs/rebuild.md shows what the command tells of these books', async () => {
  await sql`update deposit set state = 'held' where service_id = 'dep_1'`.execute(books.db)
  await sql`delete from mismatch where kind = 'unreported'`.execute(owner)
  const { status, out, err } = await depositd('rebuild --verify')
  expect(status).toBe(1)
  const shortened = out
    .replaceAll(/sha256 [0-9a-f]{64}$/gm, 'sha256 …')
    .replaceAll(/(\{"loss": \d+, "asset": "[^"]+", ).*\}$/gm, '$1…}')
  const [example] = fences(readText('docs/rebuild.md')).filter(({ language }) => language === 'text')
  expect(`${err}${shortened}`.trimEnd()).toBe(example?.text.trimEnd())
  const limited = await depositd('rebuild --verify --limit 1')
  expect(limited.out).toContain('and 1 more; a higher --limit shows them')
})

test('--json carries all of it, amounts digit for digit', async () => {
  await sql`update deposit set amount = 123456789012345678901 where service_id = 'dep_1'`.execute(books.db)
  const { status, out } = await depositd('rebuild --verify --json')
  expect(status).toBe(1)
  expect(out).toContain('"amount": 123456789012345678901')
  expect(JSON.parse(out)).toMatchObject({
    rows: 5,
    groups: 2,
    subjects: 2,
    differing: 1,
    due: 0,
    pending: 0,
    differences: [{ subject: 'deposit dep_1', what: 'deposit', name: '', rebuilt: { state: 'reconciled' } }],
  })
})

test('a restore by two people writes what is missing', async () => {
  await sql`update deposit set state = 'held' where service_id = 'dep_1'`.execute(books.db)
  await tamper(books, 'update ledger_transfer set amount = amount + 7 where journal_id = 1')
  await addPeople(owner)
  const { status, out } = await runDecided('rebuild --restore --reason lost --json', environment)
  expect(status).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    by: 'erin',
    approved_by: 'max',
    restored: {
      resumed: false,
      rows: 5,
      corrected: 0,
      groups: 2,
      journals: [{ kind: 'reversal' }, { kind: 'deposit' }],
    },
  })
  expect((await depositd('rebuild --verify')).status).toBe(0)
  const [, id = ''] = /"id": "(\d+)"/.exec(out) ?? []
  expect((await depositd(`ledger journal show ${id}`)).out).toContain(
    'by erin, approved by max, decision 3: lost',
  )
  expect((await depositd(`ledger journal reverse ${id} --break-glass erin,max --reason x`)).err).toContain(
    'is a reversal',
  )
  const again = await runDecided('rebuild --restore --reason lost', environment)
  expect(again.out).toContain('restored: 5 observations read, 0 corrected; 2 groups decided; journals: 0\n')
})

test.each([
  ['rebuild', 'neither --verify nor --restore is given'],
  ['rebuild --restore', '--reason is empty'],
  ['rebuild --restore --verify', 'cannot be used with'],
])('%s is refused', async (line, problem) => {
  const { status, out, err } = await depositd(line)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(problem)
})
