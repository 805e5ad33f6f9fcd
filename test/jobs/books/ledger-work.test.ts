import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Fault } from '../../../src/core/errors.ts'
import { defaultService, type ServiceName } from '../../../src/core/evidence.ts'
import { exportLedger } from '../../../src/jobs/books/export-ledger.ts'
import { sealBooks } from '../../../src/jobs/books/seal-books.ts'
import type { WalletsClient } from '../../../src/provider/wallets-client.ts'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { base, credit, elsewhere } from '../../support/evidence.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startRawService } from '../../support/raw-service.ts'
import {
  ofDefault,
  openScriptedWork,
  type ScriptedWork,
  unlistedOwners,
} from '../../support/scripted-work.ts'
import { bookPayments } from '../../support/sealed-books.ts'
import { tamper } from '../../support/tamper.ts'

let world: ScriptedWork

beforeEach(async () => {
  world = await openScriptedWork()
  await bookPayments(world.books, 100, 1)
})
afterEach(() => world[Symbol.asyncDispose]())

/** As where somebody writes to the books all the time. */
const neverCut = `create or replace function ledger_cut(out last_journal bigint, out cut_at timestamptz) language plpgsql as $$
  begin raise 'canceling statement due to lock timeout' using errcode = '55P03'; end $$`

test('an audit runs each of its steps even if others fail, and reports each failure', async () => {
  await tamper(world.books, 'drop function make_ledger_partitions', 'drop function ledger_turnover')
  const list = (kind: string) => Promise.resolve(void world.reported.push(kind)).then(() => null)
  const owners = new Map([
    ['acme' as ServiceName, { ...unlistedOwners, list: () => Promise.reject(new Error('acme is away')) }],
    ...ofDefault({ ...unlistedOwners, list }),
  ])
  const { audit } = world.work({ owners })
  await expect(audit()).rejects.toThrow(/make_ledger_partitions.*; .*ledger_turnover.*; .*acme is away/s)
  expect(world.reported).toEqual(['channel', 'stable_wallet'])
})

test('an audit reads the prices, reports an address that does not answer, and values the books', async () => {
  await keepValuation(world.books.db, { currency: 'EUR', maxAgeMs: 30 * 24 * 3_600_000 })
  const file = 'asset,currency,at,price,source\nbase/USDC,EUR,2025-12-31,0.92,desk\n'
  await using served = await startRawService((_request, response) => void response.end(file))
  await world
    .work({ prices: { urls: ['http://127.0.0.1:1/eur.csv', served.url], conversionRates: false } })
    .audit()
  expect(world.reported).toContain('failed audit 127.0.0.1:1')
  const { rows } = await sql<{ valued: bigint; journals: bigint }>`
    select (select count(*) from valued_journal) as valued, count(*) as journals from ledger_journal`.execute(
    world.books.db,
  )
  expect(rows[0]?.valued).toBe(rows[0]?.journals)
})

const refusal = (isLasting: boolean) => new Fault('remote_failed', { what: 'GET', problem: 'no', isLasting })

const walletsWith = (readBalance: WalletsClient['readBalance']) =>
  ofDefault({ service: defaultService, readBalance, listWithdrawals: null })

test('a wallet that the service does not have is reported once; one that fails is read again by itself', async () => {
  const till = { kind: 'stable_wallet', id: 'till' } as const
  const deposits = [{ network: base, address: elsewhere }]
  await saveOwner(world.books.db, { owner: till, deposits, forward: null })
  let faults: Record<string, Error> = { savings: refusal(true), till: refusal(false) }
  const readBalance = (wallet: string) =>
    faults[wallet] === undefined ? Promise.resolve(0n) : Promise.reject(faults[wallet])
  const { wallets, wallet } = world.work({ wallets: walletsWith(readBalance) })
  await wallets(defaultService)
  expect(world.reported).toEqual(['failed wallet savings', 'wake wallet till'])
  world.reported.length = 0
  await wallet('savings')
  expect(world.reported).toEqual(['failed wallet savings'])
  await expect(wallet('till')).rejects.toThrow('no')
  faults = { savings: refusal(false), till: refusal(false) }
  world.reported.length = 0
  await expect(wallets(defaultService)).rejects.toThrow('no')
  expect(world.reported).toEqual([])
})

test('a valuation that fails is reported, and the rest of the audit is done', async () => {
  await using own = await openScriptedWork()
  await keepValuation(own.books.db, { currency: 'EUR', maxAgeMs: 1000 })
  await tamper(own.books, 'alter table valued_journal rename to gone')
  await own.work().audit()
  expect(own.reported).toEqual(['failed audit values'])
})

test('seals are held against what they are over also where no new one can be made', async () => {
  const { seal } = world.work()
  await seal()
  await tamper(
    world.books,
    'update ledger_transfer set amount = amount + 1',
    'alter table valuation_rule rename to gone',
  )
  await expect(seal()).rejects.toThrow(/valuation_rule/)
  expect(world.reported).toEqual(['seal_broken opened'])
})

test('people who export while others write all the time are told so in words', async () => {
  await tamper(world.books, neverCut)
  const busy = 'other processes were writing to the books in each of 5 attempts; try again'
  await expect(exportAll()).rejects.toMatchObject({ details: { what: 'exporting the books', problem: busy } })
})

test('a seal and an export outwait a booking that takes longer than one cut waits', async () => {
  await using own = await openScriptedWork()
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = own.books.db.transaction().execute(async (tx) => {
    await sql`insert into ledger_account (id, asset) values ('assets:a', ${credit}), ('assets:b', ${credit})`.execute(
      tx,
    )
    await sql`with j as (insert into ledger_journal (posting_key, kind, transfer, event_at, period)
        values ('slow', 'withdrawal', 'base/tx/9', '2026-01-15T12:00:00Z', '2026-01-01') returning *)
      insert into ledger_transfer select id, 1, 'assets:a', 'assets:b', ${credit}, 1, event_at, recorded_at, period
        from j`.execute(tx)
    resolve()
    await sleep(2500)
  })
  await promise
  const [seals, manifest] = await Promise.all([sealBooks(own.books.db, null), exportAll(own), slow])
  expect(seals).toMatchObject({ busy: [] })
  expect(manifest).toMatchObject({ journals: '1' })
})

async function exportAll({ books }: ScriptedWork = world) {
  const all = { from: null, before: null, period: null, recordedAsOf: null, account: null, owner: null }
  return exportLedger(books.db, {
    format: 'jsonl',
    selection: all,
    folder: await temporaryFolder(),
    onProgress: () => undefined,
  })
}
