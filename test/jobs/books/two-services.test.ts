import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import type { Books } from '../../support/books.ts'
import { arbitrum, base, claim, delivery, payment, txId, webhook } from '../../support/evidence.ts'
import { acmeAddress, ofAcme, openBooksOfTwo } from '../../support/two-services.ts'

let books: Books

beforeEach(async () => {
  books = await openBooksOfTwo()
})
afterEach(() => books[Symbol.asyncDispose]())

const deposits = async () => {
  const { rows } = await sql`
    select service, service_id, owner_id, state from accounting.deposits order by service, id`.execute(
    books.db,
  )
  return rows
}

const mismatches = async () => {
  const { rows } = await sql<{ service: string; kind: string; subject: string }>`
    select m.service, kind, d.service_id as subject from mismatch m left join deposit d on d.id = m.deposit_id
    where cleared_at is null order by 1, 2`.execute(books.db)
  return rows
}

test('equal ids of two services are two deposits of two owners, each booked for its own', async () => {
  await books.receive(claim(), webhook(), payment(), delivery())
  const acmePays = payment({ to: acmeAddress, tx: txId('acme pays') })
  await books.receive(claim(ofAcme), webhook(ofAcme), acmePays, delivery({ tx: txId('acme delivers') }))
  await books.settle()
  expect(await deposits()).toEqual([
    { service: 'acme', service_id: 'acme/dep_1', owner_id: 'acme/shop', state: 'reconciled' },
    { service: 'default', service_id: 'dep_1', owner_id: 'shop', state: 'reconciled' },
  ])
  const { rows } = await sql`
    select account from ledger_entry
    where account like 'liabilities:%' group by account order by account`.execute(books.db)
  expect(rows).toHaveLength(2)
  expect(await mismatches()).toEqual([])
})

test('a payment that a second service claims stays with the service of its address, and is named', async () => {
  const stolen = { ...ofAcme, deposit: {} }
  await books.receive(claim(stolen), webhook(stolen), claim(), webhook(), payment(), delivery())
  await books.settle()
  expect(await deposits()).toMatchObject([
    { service_id: 'acme/dep_1', state: 'observed' },
    { service_id: 'dep_1', state: 'reconciled' },
  ])
  expect(await mismatches()).toContainEqual({
    service: 'acme',
    kind: 'service_mismatch',
    subject: 'acme/dep_1',
  })
})

test('an unmatched delivery is of the service that alone forwards to its recipient, or of none', async () => {
  await books.receive(delivery({ tx: txId('to both') }))
  await books.settle()
  const unmatched = { kind: 'settlement_unreported', subject: null }
  expect(await mismatches()).toEqual([{ service: null, ...unmatched }])
  const treasury = '0x00000000000000000000000000000000000000ad' as Address
  await saveOwner(books.db, {
    owner: { kind: 'channel', id: 'acme/till' },
    deposits: [{ network: base, address: '0x00000000000000000000000000000000000000ae' as Address }],
    forward: { network: arbitrum, asset: 'USDC', recipient: treasury },
  })
  await books.receive(delivery({ tx: txId('to acme'), to: treasury }))
  await books.settle()
  expect(await mismatches()).toContainEqual({ service: 'acme', ...unmatched })
})

test('an unreported payment is of the service whose owner has the address', async () => {
  await books.receive(payment({ to: acmeAddress }))
  await books.settle()
  expect(await deposits()).toMatchObject([{ service: 'acme', service_id: null, owner_id: 'acme/shop' }])
  expect(await mismatches()).toMatchObject([{ service: 'acme', kind: 'unreported' }])
})
