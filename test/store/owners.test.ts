import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OwnerEntry } from '../../src/core/address-book.ts'
import type { Address } from '../../src/core/asset.ts'
import { inTransaction } from '../../src/store/database.ts'
import { keepOwners, readOwners, saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import { base } from '../support/evidence.ts'
import { untilWaiting } from '../support/waiting.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const walletAt = (digit: string): OwnerEntry => ({
  owner: { kind: 'stable_wallet', id: 'savings of two' },
  deposits: [{ network: base, address: `0x${digit.repeat(40)}` as Address }],
  forward: null,
})

test('of two who give one wallet different addresses at the same time, the later is refused', async () => {
  const { db } = books
  await saveOwner(db, { ...walletAt('1'), deposits: [] })
  const saving = await inTransaction(db, async (tx) => {
    await keepOwners(tx, [walletAt('1')])
    const second = saveOwner(db, walletAt('2')).catch((error: unknown) => error)
    await untilWaiting(db)
    return { second }
  })
  expect(await saving.second).toMatchObject({ code: 'usage_bad' })
  expect(await readOwners(db, 'stable_wallet', ['savings of two'])).toEqual([walletAt('1')])
})
