import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tamper } from '../support/tamper.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { differencesToTwin, type Struck } from './twin.ts'

const stack = new AsyncDisposableStack()
let world: World
let struck: Struck

beforeAll(async () => {
  world = await startWorld({ networks: ['base', 'solana'] }, stack)
  const folder = await mkdtemp(join(tmpdir(), 'depositd-twin-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const { environment, settings } = world
  const intake = { secret: environment.WEBHOOK_SECRETS ?? '' }
  struck = { databaseUrl: settings.databaseUrl, straight: environment, folder, intake }
  for (const network of ['base', 'solana']) {
    await world.pay({ network, symbol: 'USDC', owner: 'shop', amount: '5' })
    await world.pay({ network, symbol: 'USDT', owner: 'savings', amount: '7' })
  }
  await until('all is reconciled', areReconciled, 200_000)
}, 300_000)
afterAll(() => stack.disposeAsync())

async function areReconciled(): Promise<true | null> {
  const { rows } = await sql`
    select from deposit where state = 'reconciled' and not exists (select from inbox_pending)`.execute(
    world.db,
  )
  return rows.length >= 4 || null
}

test('a daemon that is told the same in another order comes to the same end', {
  timeout: 300_000,
}, async () => {
  expect(await differencesToTwin(struck)).toEqual([])
})

test('what one of them has otherwise is told', { timeout: 300_000 }, async () => {
  await world.daemon.stop()
  await tamper(
    { url: struck.databaseUrl },
    `update deposit set state = 'held' where id = (select min(id) from deposit where state = 'reconciled')`,
    `update ledger_transfer set amount = amount + 1
      where journal_id = (select min(id) from ledger_journal where kind = 'settlement')`,
    `insert into mismatch (subject, kind, severity, opened_at) values ('transfer/base/0x00/0', 'unreported', 'severe', now())`,
  )
  const reported = (await differencesToTwin(struck, 20_000))
    .map((line) => line.replace(/: \{.*/, ''))
    .toSorted()
  const [ours, theirs] = ['1 times here, 0 times there', '0 times here, 1 times there']
  expect(reported).toEqual([
    `${theirs}: deposits`,
    `${theirs}: journals`,
    `${ours}: deposits`,
    `${ours}: journals`,
    `${ours}: mismatches`,
  ])
})
