import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { type ServiceId, stableWalletNetwork } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import type { TransactionReader } from '../../../src/jobs/chain/verify-transactions.ts'
import { appendChainTransfers } from '../../../src/store/chain/chain-transfers.ts'
import { backfillStream, endHistory } from '../../../src/store/chain/history.ts'
import { inTransaction } from '../../../src/store/database.ts'
import {
  arbitrum,
  at,
  base,
  claim,
  credit,
  delivery,
  payment,
  txId,
  usdcOnBase,
  walletAddress,
  webhook,
  withdrawal,
} from '../../support/evidence.ts'
import { moved, openVerification, reads, type Verification } from '../../support/verification.ts'

let world: Verification

beforeEach(async () => {
  world = await openVerification()
})
afterEach(() => world[Symbol.asyncDispose]())

const early = { status: 'observed', settlement: { tx: null } } as const
const named = txId('pay')

test('what a named transaction moved is booked as if a scan had found it', async () => {
  await world.report(webhook(early))
  expect(await world.verify({ [named]: reads(moved()) })).toEqual({ stored: 1, asked: [named] })
  await world.report()
  expect(await world.deposits()).toEqual(['confirmed t'])
  expect(await world.waiting()).toEqual([])
  await inTransaction(world.db, (tx) => appendChainTransfers(tx, [payment({ receivedAt: at(7) })]))
  await world.report()
  expect(await world.db.selectFrom('ledger_journal').select('kind').execute()).toEqual([{ kind: 'deposit' }])
})

test('above what the scan has read it is seen, however final the node says it is', async () => {
  await world.report(webhook(early))
  await world.verify({ [named]: reads(moved({ height: 21n })) })
  await world.report()
  expect(await world.deposits()).toEqual(['observed t'])
})

test('a transaction that failed is told at once, and is not looked for any more', async () => {
  await world.report(webhook(early), claim(early))
  expect(await world.verify({ [named]: { kind: 'failed', height: 12n } })).toMatchObject({ stored: 1 })
  await world.report()
  expect(await world.deposits()).toEqual(['observed f tx_failed'])
  world.now = at(600)
  await world.report()
  expect(await world.deposits()).toEqual(['observed f tx_failed'])
  expect((await world.verify({})).asked).toEqual([])
  const detail = await world.db
    .selectFrom('mismatch')
    .select('detail')
    .where('kind', '=', 'tx_failed')
    .execute()
  expect(detail).toEqual([{ detail: { leg: 'deposit', transaction: `base/${named}`, height: '12' } }])
})

test('a payment that came in another transaction than the one that failed clears that', async () => {
  await world.report(webhook(early))
  await world.verify({ [named]: { kind: 'failed', height: 12n } })
  await world.report()
  await world.report(claim({ ...early, deposit: { tx: txId('again') } }))
  expect(await world.verify({ [txId('again')]: reads(moved({ tx: txId('again') })) })).toMatchObject({
    stored: 1,
  })
  await world.report()
  expect(await world.deposits()).toEqual(['confirmed t'])
})

test('what a scan found first is not read', async () => {
  await world.report(webhook(early))
  await world.report(payment())
  expect((await world.verify({})).asked).toEqual([])
  expect(await world.waiting()).toEqual([])
})

test('nothing is read before the first scan has decided where reading begins', async () => {
  await sql`update stream set cursor = null`.execute(world.db)
  await world.report(webhook(early))
  expect((await world.verify({})).asked).toEqual([])
})

test('a transaction that pays others, or nobody, is not read again; what it pays to other addresses of ours counts', async () => {
  await world.report(webhook(early))
  await world.verify({ [named]: reads(moved({ to: walletAddress })) })
  await world.report()
  expect(await world.waiting()).toEqual([[named, false]])
  expect(await world.deposits()).toEqual(['observed f', 'confirmed t'])
})

test('one transaction that is named for two deposits is read once', async () => {
  const settlement = { network: stableWalletNetwork, address: 'savings' as Address, asset: credit, tx: null }
  const two = {
    status: 'observed',
    serviceId: 'dep_2' as ServiceId,
    owner: null,
    deposit: { address: walletAddress },
    settlement,
  } as const
  await world.report(webhook(early), webhook(two))
  const other = moved({ to: walletAddress, index: '1' })
  expect(await world.verify({ [named]: reads(moved(), other) })).toEqual({
    stored: 2,

    asked: [named],
  })
  await world.report()
  expect(await world.deposits()).toEqual(['confirmed t', 'confirmed t'])
})

test('a delivery is read by the transaction that the service names for it', async () => {
  await world.report(webhook(), claim(), payment())
  await world.stand(0, arbitrum)
  const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = delivery()
  const reader: TransactionReader = {
    network: arbitrum,
    readTransaction: () => Promise.resolve(reads({ ...facts, stage: 'final' })),
  }
  expect(await world.verify(reader)).toMatchObject({ stored: 1 })
  await world.report()
  expect(await world.deposits()).toEqual(['reconciled t'])
})

test('an address that nobody has is no reason to read: nothing could be found', async () => {
  const strange = '0x00000000000000000000000000000000000000ab' as Address
  await world.report(webhook({ ...early, owner: null, deposit: { address: strange } }))
  expect(await world.waiting()).toEqual([])
})

test('many of the past wait for their history to be read, and are due when it is; a few do not', async () => {
  await sql`insert into stream (name, progress, succeeded_at)
    values (${backfillStream(base)}, '{"since": 0, "heights": 1, "requests": 1}', now())`.execute(world.db)
  const nameMore = (count: number) =>
    sql`
    insert into named_transaction (network, tx, role, address, next_at)
    select ${base}, ${named} || place, 'deposit', ${walletAddress}, ${world.now}::timestamptz
    from generate_series(1, ${count}::int) place on conflict do nothing`.execute(world.db)
  await nameMore(20)
  expect((await world.verify({})).asked).toHaveLength(20)
  await sql`delete from named_transaction`.execute(world.db)
  await nameMore(21)
  expect((await world.verify({})).asked).toEqual([])
  world.now = new Date(world.now.getTime() + 60_000)
  expect((await world.verify({})).asked).toEqual([])
  await endHistory(world.db, base)
  world.now = new Date(Date.now() + 1000)
  expect((await world.verify({})).asked).toHaveLength(20)
})

test('the recipient of a withdrawal need not be watched, and is read once the scan has passed its block', async () => {
  const stranger = '0x00000000000000000000000000000000000000de' as Address
  const tx = txId('pay out')
  const paid = { to: stranger, tx, amount: 40n as Amount }
  await world.report(withdrawal({ network: base, to: stranger, tx, amount: 40n, asset: usdcOnBase }))
  const above = await world.verify({ [tx]: reads(moved({ ...paid, height: 21n })) })
  expect(above).toEqual({ stored: 0, asked: [tx] })
  expect(await world.waiting()).toEqual([[tx, true]])
  world.now = at(7)
  expect(await world.verify({ [tx]: reads(moved({ ...paid, height: 19n })) })).toMatchObject({ stored: 1 })
  await world.report()
  expect(await world.waiting()).toEqual([])
  const { rows } = await sql`
    select kind, state from ledger_journal join withdrawal using (transfer)`.execute(world.db)
  expect(rows).toEqual([{ kind: 'withdrawal', state: 'paid' }])
})

test('of a transaction that pays several withdrawals each recipient is read', async () => {
  const tx = txId('pay out')
  const [one, other] = ['de', 'df'].map((end) => `0x${end.padStart(40, '0')}` as Address)
  const of = (withdrawalId: string, to = '' as Address) =>
    withdrawal({ withdrawalId, network: base, to, tx, amount: 40n, asset: usdcOnBase })
  const paid = (to = '' as Address, index = '0') =>
    moved({ to, index, tx, amount: 40n as Amount, height: 19n })
  await world.report(of('w-1', one))
  await world.verify({ [tx]: reads(paid(one)) })
  await world.report(of('w-2', other))
  expect(await world.verify({ [tx]: reads(paid(one), paid(other, '1')) })).toMatchObject({ stored: 1 })
  await world.report()
  const { rows } = await sql`select withdrawal_id, state from withdrawal order by 1`.execute(world.db)
  expect(rows).toEqual([
    { withdrawal_id: 'w-1', state: 'paid' },
    { withdrawal_id: 'w-2', state: 'paid' },
  ])
})
