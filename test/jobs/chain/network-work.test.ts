import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TransactionReading } from '../../../src/chain/types.ts'
import { Fault } from '../../../src/core/errors.ts'
import type { Books } from '../../support/books.ts'
import {
  arbitrum,
  at,
  base,
  elsewhere,
  txId,
  usdtOnBase,
  webhook,
  withdrawal,
} from '../../support/evidence.ts'
import { startChain } from '../../support/made-up-chain.ts'
import { cursor, openScriptedWork, type ScriptedWork, transfer } from '../../support/scripted-work.ts'

let world: ScriptedWork
let books: Books
let reported: string[]
let work: ScriptedWork['work']

beforeEach(async () => {
  world = await openScriptedWork()
  ;({ books, reported, work } = world)
})
afterEach(() => world[Symbol.asyncDispose]())

test('a scan that found something has it applied, one that has more to read goes on', async () => {
  world.scans = [{ transfers: [transfer], more: true }, {}]
  const { scan } = work()
  await scan('base')
  await scan('base')
  expect(reported).toEqual(['identity', 'scan', 'wake apply', 'wake backfill base', 'wake scan base', 'scan'])
})

test('a hole that a scan leaves is read by the next backfill, and what is there applied', async () => {
  world.scans = [
    { proved: [{ from: 21n, to: 24n }], cursor: { ...cursor, final: { height: 24n, hash: '0x24' } } },
  ]
  const { scan, backfill } = work({ startHeights: new Map([[base, 18n]]) })
  await scan('base')
  await backfill('base')
  await backfill('base')
  expect(reported.filter((one) => one.startsWith('read'))).toEqual(['read 18 to 20'])
})

test('a network that has halted is a mismatch that says how to go on, until it is read again', async () => {
  const fix = 'depositd backfill --network base --from HEIGHT'
  const lost = new Fault('history_lost', { network: 'base', problem: 'it is gone', fix })
  const halted = { ...world.reader, scan: () => Promise.reject(lost) }
  const halting = work({ readers: new Map([[base, halted]]) })
  await expect(halting.scan('base')).rejects.toThrow('history_lost')
  await expect(halting.scan('base')).rejects.toThrow('history_lost')
  expect(reported.filter((one) => one.startsWith('history_lost'))).toEqual(['history_lost opened'])
  const { rows } = await sql`
    select subject, severity, detail from mismatch where cleared_at is null`.execute(books.db)
  expect(rows).toEqual([
    { subject: 'network/base', severity: 'severe', detail: { problem: 'it is gone', fix } },
  ])
  await work().scan('base')
  expect(reported.at(-1)).toBe('wake backfill base')
  expect(reported).toContain('history_lost cleared')
})

test('a proof of balances reports what it finds and wakes apply; an asset that does not answer fails the job', async () => {
  const chain = await startChain(books)
  await chain.happen(
    { height: 105n, change: 5n, shown: 'never' },
    { height: 107n, change: 7n, shown: 'reread' },
  )
  await chain.scanTo(110n)
  chain.unreadable = usdtOnBase
  const { prove } = work({ proven: [chain.network()] })
  await expect(prove('base')).rejects.toThrow(/balances on base.*execution reverted/)
  expect(reported).toEqual(['unexplained_balance opened', 'wake apply'])
})

test('a change of history is told, and only then', async () => {
  world.scans = [{}, { rewoundTo: 3n }]
  const { scan } = work()
  await scan('base')
  await scan('base')
  expect(reported.filter((one) => one.startsWith('rewound'))).toEqual(['rewound base'])
})

test('a node that is not of its chain is asked again each time, and never read', async () => {
  const addressConflict = { ...world.reader, checkIdentity: () => Promise.reject(new Error('wrong chain')) }
  const { scan } = work({ readers: new Map([[base, addressConflict]]) })
  await expect(scan('base')).rejects.toThrow('wrong chain')
  await expect(scan('base')).rejects.toThrow('wrong chain')
  expect(reported).toEqual([])
})

const readNetworks = new Set([base])
const seenPayment: TransactionReading = {
  kind: 'read',
  transfers: [{ ...transfer, height: 21n, stage: 'seen' }],
}

test('a transaction that the service names is read at once, and what it moved is applied', async () => {
  const { apply, scan, verify } = work({ readNetworks, now: () => at(6) })
  await scan('base')
  await books.receive(webhook({ status: 'observed' }))
  reported.length = 0
  await apply()
  expect(reported).toContain('wake verify base')
  reported.length = 0
  world.verifications = [seenPayment]
  await verify('base')
  expect(reported).toEqual([`verify ${txId('pay').slice(-4)}`, 'wake apply'])
  reported.length = 0
  await verify('base')
  expect(reported).toEqual([])
})

test('a sweep has those read whose time has come, on networks that are read', async () => {
  const { apply, scan, sweep } = work({ readNetworks: new Set([base, arbitrum]), now: () => at(6) })
  await scan('base')
  await books.receive(webhook())
  await apply()
  reported.length = 0
  await sweep()
  expect(reported.filter((one) => one.startsWith('wake'))).toEqual(['wake verify base'])
})

test('what is named on a network that nobody reads is not asked for', async () => {
  await books.receive(webhook())
  await work({ readNetworks: new Set() }).apply()
  expect(await books.db.selectFrom('named_transaction').selectAll().execute()).toEqual([])
})

test('a withdrawal on a network that nobody reads is proved once that is read', async () => {
  const tx = txId('pay out')
  const { amount, asset } = transfer
  await books.receive(withdrawal({ network: base, to: elsewhere, tx, amount, asset }))
  const before = work({ readNetworks: new Set(), readers: new Map() })
  await before.apply()
  await before.sweep()
  expect(reported.filter((one) => /^wake (?!deliver)/.test(one))).toEqual([])
  const { scan, sweep, verify, apply } = work({ readNetworks })
  await scan('base')
  reported.length = 0
  await sweep()
  expect(reported.filter((one) => one.startsWith('wake'))).toEqual(['wake verify base'])
  world.verifications = [{ kind: 'read', transfers: [{ ...transfer, tx, to: elsewhere }] }]
  await verify('base')
  await apply()
  const { rows } = await sql`select state from withdrawal`.execute(books.db)
  expect(rows).toEqual([{ state: 'paid' }])
})
