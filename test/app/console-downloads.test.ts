import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { PersonRole } from '../../src/people/roles.ts'
import { serveBooks } from '../support/books-console.ts'
import { type ConsoleClient, consoleClient } from '../support/console-client.ts'
import { at, claim, delivery, payment, txId } from '../support/evidence.ts'
import { verifyDocument } from '../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../support/evidence-world.ts'
import { unzipped } from '../support/zipped.ts'

let world: EvidenceWorld
let client: ConsoleClient
let short: string
const stack = new AsyncDisposableStack()

/** The console of books with one delivery that is short. */
beforeAll(async () => {
  world = stack.use(await openEvidenceWorld())
  const [pay, forward] = [txId('pay 1'), txId('forward 1')]
  const seen = { blockAt: at(0), receivedAt: at(1) }
  await world.list(
    claim({
      serviceId: 'dep_1' as ServiceId,
      deposit: { tx: pay },
      settlement: { tx: forward },
      receivedAt: at(6),
    }),
  )
  await world.see(
    payment({ tx: pay, ...seen }),
    delivery({ tx: forward, amount: 79_900_000n as Amount, ...seen }),
  )
  await world.books.settle()
  client = consoleClient(await serveBooks(world.books, stack, world.environment), world.books)
  const { rows } = await sql<{ id: bigint }>`select id from mismatch where kind = 'settlement_short'`.execute(
    world.books.db,
  )
  short = `${rows[0]?.id}`
})
afterAll(() => stack.disposeAsync())

/** What people took, and who. */
const taken = async (action: string) => {
  const { rows } = await sql<{ person: string; detail: string }>`
    select person, detail from accounting.audit_log where action = ${action} and person is not null order by entry`.execute(
    world.books.db,
  )
  return rows
}

describe('the dispute file of a case', () => {
  test('is refused to a visitor, and there is none of another mismatch', async () => {
    const vera = await client.signedIn('vera', 'viewer')
    expect((await client.got(`/mismatches/${short}/dispute`)).status).toBe(401)
    expect((await client.got(`/mismatches/${short}`)).text).not.toContain('/dispute')
    expect((await client.got('/mismatches/999/dispute', vera)).status).toBe(404)
    expect(await taken('dispute_made')).toEqual([])
  })

  test('has the lists of the command line and a bundle that verifies, and stands in the audit log', async () => {
    const vera = await client.signedIn('vera', 'viewer')
    expect((await client.got(`/mismatches/${short}`, vera)).text).toContain(
      `href="/mismatches/${short}/dispute"`,
    )
    const { status, headers, body } = await client.got(`/mismatches/${short}/dispute`, vera)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/zip'])
    expect(headers.get('content-disposition')).toBe(`attachment; filename=dispute-${short}.zip`)
    const files = unzipped(body)
    const folder = join(world.folder, 'dispute')
    expect((await world.run(`mismatches dispute --out ${folder}`, world.environment)).status).toBe(0)
    for (const name of ['short-deliveries.csv', 'short-deliveries.html'])
      expect(files[name]).toBe(readFileSync(join(folder, name), 'utf8'))
    expect(await verifyDocument(world, files['evidence/1.json'] ?? '')).toMatchObject({ verified: true })
    expect(await taken('dispute_made')).toEqual([{ person: 'vera', detail: 'deposit 1' }])
  })
})

const exported = async (role: PersonRole, fields: Record<string, string>) =>
  client.sent('/ledger/export', await client.signedIn(`the ${role}`, role), fields)

describe('an export of the books', () => {
  test('is for accountants, auditors and administrators', async () => {
    const olaf = await client.signedIn('olaf', 'operator', 'approver', 'viewer')
    expect((await client.got('/ledger', olaf)).text).not.toContain('/ledger/export')
    expect((await client.sent('/ledger/export', olaf, { format: 'csv' })).status).toBe(403)
    for (const role of ['accountant', 'auditor', 'administrator'] as const)
      expect((await client.got('/ledger', await client.signedIn('ada', role))).text).toContain(
        'action="/ledger/export"',
      )
    expect(await taken('exported')).toEqual([])
  })

  test('is the one of the command line in an archive, and stands in the audit log', async () => {
    const { status, headers, body } = await exported('accountant', { format: 'hledger', period: '2026-01' })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/zip'])
    expect(headers.get('content-disposition')).toBe('attachment; filename=books-2026-01-hledger.zip')
    const { 'manifest.json': manifest = '', ...files } = unzipped(body)
    const folder = join(world.folder, 'books')
    await world.run(`ledger export --format hledger --period 2026-01 --out ${folder}`, world.environment)
    const [name = '', text = ''] = Object.entries(files)[0] ?? []
    expect(text).toBe(readFileSync(join(folder, name), 'utf8'))
    expect(JSON.parse(manifest)).toMatchObject({
      journals: expect.stringMatching(/^[1-9]/),
      files: [{ name, sha256: createHash('sha256').update(text).digest('hex') }],
    })
    expect(await taken('exported')).toEqual([{ person: 'the accountant', detail: 'hledger 2026-01' }])
  })

  test('has every format; what cannot be made is refused in words, before a file begins', async () => {
    for (const format of ['csv', 'jsonl', 'beancount'])
      expect(Object.keys(unzipped((await exported('auditor', { format })).body))).toHaveLength(2)
    const xero = await exported('auditor', { format: 'xero' })
    expect([xero.status, xero.headers.get('content-disposition')]).toEqual([409, null])
    expect(xero.text).toContain('valuation')
    for (const odd of [{ format: 'constructor' }, { format: 'csv', period: '2026-13' }])
      expect((await exported('auditor', odd)).status).toBe(400)
  })

  test('is made one at a time', async () => {
    const auditor = await client.signedIn('aud', 'auditor')
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.sent('/ledger/export', auditor, { format: 'csv' })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 409]))
    expect((await client.sent('/ledger/export', auditor, { format: 'csv' })).status).toBe(200)
  })
})
