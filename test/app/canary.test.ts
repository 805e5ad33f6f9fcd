import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { admitCanaries } from '../../src/app/canary.ts'
import { isFault } from '../../src/core/errors.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import { type Books, openBooks } from '../support/books.ts'
import { claim, payment, txId } from '../support/evidence.ts'
import { temporaryFolder } from '../support/folder.ts'
import { parse } from '../support/settings-text.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const entry = (more = '') =>
  `canary: { deposits: [{ network: base, asset: USDC, amount: "0.01", owner: { kind: channel, id: shop }${more} }] }`

/** What a worker says that is to start with this section; empty where it starts. */
async function refusalOf(section: string): Promise<string> {
  try {
    await admitCanaries(books.db, parse(section))
    return ''
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return error.details.faults.join('\n')
  }
}

const kept = async () => (await sql`select kind, id from canary_owner`.execute(books.db)).rows

test('a worker does not start where a customer would become a canary', async () => {
  const deposit = { tx: txId('pay') }
  await books.receive(claim({ serviceId: 'dep_pay' as ServiceId, deposit }), payment(deposit))
  await books.settle()
  expect(await refusalOf(entry())).toBe(
    'DEPOSITD_CONFIG, canary.deposits.0.owner: channel shop has deposits already; make one that is used for nothing else',
  )
  expect(await kept()).toEqual([])
})

test('an owner without deposits is a canary from then on', async () => {
  expect(await refusalOf(entry())).toBe('')
  expect(await kept()).toEqual([{ kind: 'channel', id: 'shop' }])
})

test('a worker does not start without the key that it is to pay with', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'base.key')
  expect(await refusalOf(entry(`, keyFile: "${file}"`))).toContain('keyFile: cannot be read: ENOENT')
  await writeFile(file, 'correct horse')
  await chmod(file, 0o600)
  expect(await refusalOf(entry(`, keyFile: "${file}"`))).toMatch(/keyFile: is no private key: 64 hex[a-z ]+$/)
  await writeFile(file, '1'.repeat(64))
  expect(await refusalOf(entry(`, keyFile: "${file}"`))).toBe('')
})
