import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/database.ts'
import { attachFile, listAttachments } from '../../src/store/mismatches/attachments.ts'
import { browserInstalled, type Visitor } from '../support/browser.ts'
import { temporaryFolder } from '../support/folder.ts'
import { formTokenOf, openPeopleConsole, type PeopleConsole } from '../support/people-console.ts'

let console: PeopleConsole
let ines: Visitor
const content = randomBytes(3 * 1024 * 1024)
const sha256 = createHash('sha256').update(content).digest('hex')

/** Without a size, without a file. */
type Sent = { form: string; size?: number | null; headers?: Record<string, string> }

/** As another program would send it, with the cookies of this person. */
async function upload({ context }: Visitor, { form, size = 10, headers = {} }: Sent) {
  const file =
    size === null ? {} : { file: { name: 'a.txt', mimeType: 'text/html', buffer: Buffer.alloc(size, 'x') } }
  const response = await context.request.post(`${console.url}/mismatches/1/attachments`, {
    multipart: { form, ...file },
    headers: { accept: 'text/plain', ...headers },
    maxRedirects: 0,
  })
  return { status: response.status(), text: await response.text() }
}

describe.skipIf(!browserInstalled())('attachments of a mismatch, in Chromium', () => {
  beforeAll(async () => {
    console = await openPeopleConsole()
    ines = await console.joined('ines', 'operator')
  }, 60_000)
  afterAll(async () => {
    await ines[Symbol.asyncDispose]()
    await console[Symbol.asyncDispose]()
  })

  test('a file is attached, listed with its hash, and downloaded as it was, which the audit log has', async () => {
    const { page, context, faults } = ines
    await page.goto(`${console.url}/mismatches/1`)
    const file = { name: 'from <the> service.html', mimeType: 'text/html', buffer: content }
    await page.getByLabel('File, at most 5 MB').setInputFiles(file)
    await page.getByRole('button', { name: 'Attach' }).click()
    const row = page.getByRole('row', { name: /3,145,728/ })
    expect((await row.getByRole('cell').allTextContents()).toSpliced(3, 1)).toEqual([
      'from _the_ service.html',
      '3,145,728',
      sha256,
      'ines',
    ])
    await page.getByRole('row', { name: /ines attached from _the_ service.html/ }).waitFor()
    const link = row.getByRole('link')
    const download = page.waitForEvent('download')
    await link.click()
    expect(readFileSync(await (await download).path()).equals(content)).toBe(true)
    const response = await context.request.get(`${console.url}${(await link.getAttribute('href')) ?? ''}`)
    expect(response.headers()).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="from _the_ service.html"',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    const { rows } = await sql`
      select person, detail from accounting.audit_log where action = 'attachment_taken'`.execute(
      console.books.db,
    )
    const taken = { person: 'ines', detail: 'attachment 1 of mismatch 1' }
    expect(rows).toEqual([taken, taken])
    expect(faults).toEqual([])
  })

  test('only an operator attaches, by a form of their own page', async () => {
    await ines.page.goto(`${console.url}/mismatches/1`)
    const form = await formTokenOf(ines)
    await using vera = await console.joined('vera', 'viewer')
    await vera.page.goto(`${console.url}/you`)
    expect(await upload(vera, { form: await formTokenOf(vera) })).toMatchObject({
      status: 403,
      text: 'to work on cases, vera needs the role operator\n',
    })
    expect(await upload(ines, { form: 'x' })).toMatchObject({ status: 403 })
    const foreign = { 'sec-fetch-site': 'cross-site' }
    expect(await upload(ines, { form, headers: foreign })).toMatchObject({ status: 403 })
    await using visitor = await console.visitor()
    expect(await upload(visitor, { form })).toMatchObject({ status: 401 })
    expect((await visitor.context.request.get(`${console.url}/attachments/1`)).status()).toBe(401)
    expect(await listAttachments(console.books.db, 1n)).toHaveLength(1)
  })

  test('a file that is empty or too large, and a form without one, are refused', async () => {
    const form = await formTokenOf(ines)
    const limit = 5 * 1024 * 1024
    expect(await upload(ines, { form, size: limit + 65_536 })).toEqual({
      status: 413,
      text: 'the file is larger than 5 MB\n',
    })
    expect(await upload(ines, { form, size: limit + 1 })).toMatchObject({ status: 409 })
    expect(await upload(ines, { form, size: 0 })).toMatchObject({ status: 409 })
    expect(await upload(ines, { form, size: null })).toMatchObject({ status: 400, text: 'choose a file\n' })
    const plain = await console.sent(ines, '/mismatches/1/attachments', { fields: { form } })
    expect(plain).toEqual({ status: 400, text: 'the form has no file\n' })
    expect(await listAttachments(console.books.db, 1n)).toHaveLength(1)
  })

  test('the command line attaches a file, and shows those that there are', async () => {
    const path = join(await temporaryFolder(), 'mail.txt')
    writeFileSync(path, 'a mail')
    expect((await console.asErin(`mismatches attach 1 ${path}`)).out).toMatch(/^attached by erin\n/)
    expect((await console.asErin('mismatches show 1')).out).toMatch(
      /\n {4}mail\.txt +6 +[\da-f]{64} .* erin\n/,
    )
    const json = JSON.parse((await console.asErin('mismatches show 1 --json')).out) as {
      attachments: object[]
    }
    expect(json.attachments).toMatchObject([
      { name: 'from _the_ service.html', sha256 },
      { name: 'mail.txt', bytes: 6 },
    ])
  })

  test('a mismatch has at most twenty, which the database changes no more', async () => {
    const { db } = console.books
    const attach = () =>
      inTransaction(db, (tx) => attachFile(tx, 1n, { name: 'b', content: Buffer.from('b'), person: 'ines' }))
    const attached = await Promise.allSettled(Array.from({ length: 24 }, attach))
    expect(attached.filter(({ status }) => status === 'fulfilled')).toHaveLength(18)
    await expect(
      sql`update mismatch_attachment set name = 'c'`.execute(console.books.owner),
    ).rejects.toThrow()
  })
})
