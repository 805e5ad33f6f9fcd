import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { isLasting } from '../../../src/jobs/books/audit-wallets.ts'
import { type AuditedWallets, openAuditedWallets, openWallet } from '../../support/audited-wallets.ts'
import { elsewhere, policy } from '../../support/evidence.ts'
import { ownProfile } from '../../support/profile.ts'

let world: AuditedWallets

beforeEach(async () => {
  world = await openAuditedWallets()
})
afterEach(() => world[Symbol.asyncDispose]())

async function openValues(): Promise<string[]> {
  const { rows } = await sql<{ value: string }>`
    select value::text from mismatch where cleared_at is null and kind = 'wallet_balance_mismatch'
    order by value`.execute(world.books.db)
  return rows.map(({ value }) => value)
}

/** Later than a difference may last. */
const muchLater = () => new Date(world.now.getTime() + policy.settlementWithinMs)

test('a wallet that cannot be read keeps its mismatch, and the others are read', async () => {
  await openWallet(world, 'till', elsewhere)
  world.balance = '99899993'
  await world.audit()
  world.now = muchLater()
  await world.audit()
  expect(await openValues()).toEqual(['7', '99899993'])
  world.statuses.savings = 503
  world.balance = '0'
  expect(await world.audit()).toMatchObject({ compared: 1, unread: [{ wallet: 'savings' }], isAway: false })
  expect(await openValues()).toEqual(['7'])
})

test.each([
  [404, true],
  [410, true],
  [403, false],
  [500, false],
])('an answer %i to a wallet is lasting: %s', async (status, isTheirs) => {
  world.statuses.savings = status
  const { unread, isAway } = await world.audit()
  expect(unread.map(({ fault }) => isLasting(fault))).toEqual([isTheirs])
  expect(isAway).toBe(!isTheirs)
})

test('a balance that cannot be read is lasting, too', async () => {
  world.balance = 'much'
  const { unread, isAway } = await world.audit()
  expect(unread.map(({ fault }) => isLasting(fault))).toEqual([true])
  expect(isAway).toBe(false)
})

test('wallets that the service does not have keep no other from being read, and a service that is away is left alone', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  for (const [place, id] of names.entries()) {
    const address = `0x${place.toString().repeat(40)}` as Address
    await openWallet(world, id, address)
  }
  world.statuses = Object.fromEntries(names.map((id) => [id, 404]))
  expect(await world.audit()).toMatchObject({ compared: 1, isAway: false })
  world.statuses = Object.fromEntries(names.map((id) => [id, 403]))
  world.asked.length = 0
  expect(await world.audit()).toMatchObject({ compared: 0, isAway: true })
  expect(world.asked).toHaveLength(5)
})

test('of one wallet nothing else is asked, and no mismatch of another ends', async () => {
  await openWallet(world, 'till', elsewhere)
  world.balance = '7'
  await world.audit()
  world.now = muchLater()
  await world.audit()
  world.asked.length = 0
  expect(await world.audit(ownProfile, 'till')).toMatchObject({ compared: 1, changes: [] })
  expect(world.asked.filter((path) => !path.startsWith('/v1/stable-wallets/till'))).toEqual([])
  expect(await openValues()).toHaveLength(2)
  expect(await world.audit(ownProfile, 'unknown')).toMatchObject({ compared: 0 })
})
