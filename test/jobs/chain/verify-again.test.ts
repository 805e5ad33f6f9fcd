import { afterEach, beforeEach, expect, test } from 'vitest'
import { Fault } from '../../../src/core/errors.ts'
import type { ServiceId } from '../../../src/core/evidence.ts'
import type { TransactionReader } from '../../../src/jobs/chain/verify-transactions.ts'
import { appendChainTransfers, rewoundChainTransfers } from '../../../src/store/chain/chain-transfers.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { at, base, payment, txId, webhook } from '../../support/evidence.ts'
import { moved, openVerification, readerOf, reads, type Verification } from '../../support/verification.ts'

let world: Verification

beforeEach(async () => {
  world = await openVerification()
})
afterEach(() => world[Symbol.asyncDispose]())

const early = { status: 'observed', settlement: { tx: null } } as const
const named = txId('pay')

test('what the scan has passed meanwhile, and is not final to the node, is read again', async () => {
  await world.report(webhook(early))
  const first = await world.verify({ [named]: reads(moved({ stage: 'seen' })) })
  expect([first.stored, await world.waiting()]).toEqual([0, [[named, true]]])
  world.now = at(7)
  expect(await world.verify({ [named]: reads(moved()) })).toMatchObject({ stored: 1 })
})

test('what is unknown is read again after ever longer pauses, and at last no more', async () => {
  await world.report(webhook(early))
  const times: number[] = []
  const started = world.now.getTime()
  for (let second = 0; second < 7200; second++) {
    world.now = new Date(started + second * 1000)
    if ((await verifyIfDue()) > 0) times.push(second)
  }
  expect(times.slice(0, 5)).toEqual([0, 2, 6, 14, 30])
  expect(times).toHaveLength(16)
  expect(await world.waiting()).toEqual([[named, false]])
})

/** How many were read; asks the database first, which is what the sweep does. */
async function verifyIfDue(): Promise<number> {
  const due = await world.db
    .selectFrom('named_transaction')
    .select('tx')
    .where('next_at', '<=', world.now)
    .execute()
  return due.length === 0 ? 0 : (await world.verify({})).asked.length
}

test('a node that does not answer fails the job, and is asked again; what others told is stored', async () => {
  await world.report(
    webhook(early),
    webhook({ ...early, serviceId: 'dep_2' as ServiceId, deposit: { tx: txId('two') } }),
  )
  const away = new Fault('remote_failed', { what: 'base node', problem: 'refused' })
  await expect(
    world.verify({ [named]: away, [txId('two')]: reads(moved({ tx: txId('two') })) }),
  ).rejects.toBe(away)
  await world.report()
  expect(await world.deposits()).toEqual(['observed f', 'confirmed t'])
  expect(await world.waiting()).toEqual([[named, true]])
})

test('what a change of history took back is asked for again', async () => {
  await world.report(webhook(early), payment())
  await inTransaction(world.db, async (tx) => {
    const gone = await rewoundChainTransfers(tx, base, 5n)
    await appendChainTransfers(
      tx,
      gone.map((one) => ({ ...one, stage: 'orphaned' as const, epoch: 1 })),
    )
  })
  await world.stand(1)
  await world.report()
  expect((await world.verify({ [named]: reads(moved({ blockHash: '0xnew' })) })).asked).toEqual([named])
  await world.report()
  expect(await world.deposits()).toEqual(['confirmed t'])
})

test('what was read while history changed is not stored, and is read again', async () => {
  await world.report(webhook(early))
  const reader = readerOf({ [named]: reads(moved()) })
  const changing: TransactionReader = {
    ...reader,
    readTransaction: async (...asked) => {
      await world.stand(1)
      return reader.readTransaction(...asked)
    },
  }
  expect(await world.verify(changing)).toMatchObject({ stored: 0 })
  expect(await world.waiting()).toEqual([[named, true]])
})

test('of twenty verifications at once, one reads', async () => {
  await world.report(webhook(early))
  const all = await Promise.all(Array.from({ length: 20 }, () => world.verify({ [named]: reads(moved()) })))
  expect(all.flatMap(({ asked }) => asked)).toEqual([named])
  expect(all.reduce((sum, { stored }) => sum + stored, 0)).toBe(1)
})

test('nodes that are away are not waited for once per transaction', async () => {
  const names = Array.from({ length: 9 }, (_, place) => `t${place}`)
  const claims = names.map((name) =>
    webhook({ ...early, serviceId: `dep_${name}` as ServiceId, deposit: { tx: txId(name) } }),
  )
  await world.report(...claims)
  const asked: string[] = []
  const away = readerOf(Object.fromEntries(names.map((name) => [txId(name), new Error('away')])), asked)
  await expect(world.verify(away)).rejects.toThrow('away')
  expect(asked).toHaveLength(4)
  world.now = at(7)
  expect((await world.verify({})).asked).toHaveLength(9)
})

test('where no more may be read, what was never read is left to the scans for a while', async () => {
  await world.report(webhook(early))
  world.mayRead = false
  expect((await world.verify({})).asked).toEqual([])
  world.mayRead = true
  expect((await world.verify({})).asked).toEqual([])
  world.now = at(6.5)
  expect((await world.verify({})).asked).toEqual([named])
})

test('of many, one run reads twenty', async () => {
  const claims = Array.from({ length: 30 }, (_, place) =>
    webhook({ ...early, serviceId: `dep_${place}` as ServiceId, deposit: { tx: txId(`t${place}`) } }),
  )
  await world.report(...claims)
  expect((await world.verify({})).asked).toHaveLength(20)
  expect((await world.verify({})).asked).toEqual([])
  world.now = at(7)
  expect((await world.verify({})).asked).toHaveLength(20)
})
