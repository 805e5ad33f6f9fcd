import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AssetKey } from '../../src/core/asset.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { openDatabase } from '../../src/store/database.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { claim, delivery, liquidity, payment, policy, txId, webhook } from '../support/evidence.ts'

let books: Books

/** One deposit that is reconciled, and one whose webhooks were lost and whose forward fell short. */
beforeAll(async () => {
  books = await openBooks()
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
  const short = { tx: txId('forward2'), amount: 99_000_000n as Amount }
  const second = {
    serviceId: 'dep_2' as ServiceId,
    deposit: { tx: txId('pay2') },
    settlement: { tx: short.tx },
  }
  await books.receive(claim(second), payment({ tx: txId('pay2') }), delivery(short))
  await books.settle()
  await sql`update mismatch set opened_at = '2026-01-01T10:00:00Z', cleared_at = null`.execute(books.db)
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string, DATABASE_URL = books.url) => runCommand(line, { DATABASE_URL })

/** Ages grow while the tests run. */
function ageless(out: string): string {
  return out.replaceAll(/\d+ days? [\d:]+|\d\d:\d\d:\d\d(?=  )/g, 'AGE').replaceAll(/ {2,}/g, '  ')
}

test('deposits list', async () => {
  const { status, out } = await depositd('deposits list')
  expect(status).toBe(0)
  expect(out).toMatchInlineSnapshot(`
    "ID  STATE       OWNER  NETWORK      AMOUNT  ASSET  DELIVERED                   MISMATCHES
     2  settled     shop   base     100.000000  USDC   99.000000 USDC on arbitrum  settlement_short, webhook_missing
     1  reconciled  shop   base     100.000000  USDC   99.900000 USDC on arbitrum
    "
  `)
})

test('deposits list takes what matches and no more than the limit', async () => {
  const lines = async (options: string) =>
    (await depositd(`deposits list ${options}`)).out.split('\n').length - 2
  expect((await depositd('deposits list --limit 1')).out).toMatch(
    /\nShowing 1; more follow: bin\/depositd deposits list --limit 1 --after \w+\n$/,
  )
  expect(await lines('--state reconciled')).toBe(1)
  expect(await lines('--network base')).toBe(2)
  expect(await lines('--owner shop')).toBe(2)
})

test('coin of the service is listed where it is asked for, and is no deposit to accountants', async () => {
  await using own = await openBooks({
    rules: { policy, routes: [], senders: new Set([`base/${liquidity}`]) },
  })
  const topUp = { from: liquidity, asset: 'base/native' as AssetKey, index: 'native' }
  await own.receive(payment(topUp), payment({ tx: txId('pay2') }))
  await own.settle()
  const states = async (options: string) => {
    const { out } = await depositd(`deposits list --json ${options}`, own.url)
    return (JSON.parse(out) as { items: { state: string }[] }).items.map(({ state }) => state)
  }
  expect(await states('--limit 9')).toEqual(['confirmed'])
  expect(await states('--state ignored')).toEqual(['ignored'])
  expect((await depositd(`deposits show ${txId('pay')}`, own.url)).out).toMatch(/^deposit \d: ignored/)
  const { rows } = await sql`select state from accounting.deposits`.execute(own.db)
  expect(rows).toEqual([{ state: 'confirmed' }])
})

test('deposits show', async () => {
  const { status, out } = await depositd('deposits show 2')
  expect(status).toBe(0)
  expect(out).toMatchInlineSnapshot(`
    "deposit 2: settled
      for        channel shop
      paid       100.000000 USDC on base to 0x0000000000000000000000000000000000000001
                 0x0000000000000000000000000000000000000000000000000000000070617932
      delivered  99.000000 USDC on arbitrum to 0x00000000000000000000000000000000000000ff, fee 0.100000 USDC
                 0x000000000000000000000000000000000000000000000000666f727761726432
      service    dep_2
      credit     not safe

                  WEBHOOK  API      CHAIN
      deposit     absent   agrees   proves
      settlement  absent   differs  proves

      mismatches
        settlement_short (severe) since 2026-01-01T10:00:00.000Z, open: Short by 0.9 USDC: the service states 99.9, the chain shows 99
        webhook_missing (warning) since 2026-01-01T10:00:00.000Z, open: No webhook received for this deposit since 2026-01-01T00:02:00.000Z

      why
        not available: the settings cannot be read: SERVICE_URL is missing; SERVICE_API_KEY is missing; WEBHOOK_SECRETS is missing; none of RPC_MAINNET, RPC_BASE, RPC_ARBITRUM, RPC_SOLANA is set: no chain could be read

      evidence
        RECEIVED                  SOURCE  SAYS                                      INBOX
        2026-01-01T00:02:00.000Z  chain   deposit final on base at height 10            6
        2026-01-01T00:04:00.000Z  chain   recipient final on arbitrum at height 10      5
        2026-01-01T00:05:00.000Z  api     dep_2 is settled                              7

      journals
        deposit/base/0x0000000000000000000000000000000000000000000000000000000070617932/0#1 at 2026-01-01T00:00:00.000Z
          DEBIT                   CREDIT                                 AMOUNT  ASSET
          assets:in_transit:base  liabilities:deposits:channel:shop  100.000000  USDC on base
        settlement/base/0x0000000000000000000000000000000000000000000000000000000070617932/0#1 at 2026-01-01T00:03:00.000Z
          DEBIT                                                                 CREDIT                                                           AMOUNT  ASSET
          trading:base/0x00000000000000000000000000000000000000b1               assets:in_transit:base                                       100.000000  USDC on base
          assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff  trading:arbitrum/0x00000000000000000000000000000000000000a1   99.000000  USDC on arbitrum
          expenses:fees:service                                                 trading:arbitrum/0x00000000000000000000000000000000000000a1    0.100000  USDC on arbitrum
        conversion/base/0x0000000000000000000000000000000000000000000000000000000070617932/0#1 at 2026-01-01T00:03:00.000Z
          DEBIT                                                        CREDIT                                                       AMOUNT  ASSET
          liabilities:deposits:channel:shop                            trading:base/0x00000000000000000000000000000000000000b1  100.000000  USDC on base
          trading:arbitrum/0x00000000000000000000000000000000000000a1  liabilities:deposits:channel:shop                        100.000000  USDC on arbitrum
        shortage/base/0x0000000000000000000000000000000000000000000000000000000070617932/0#1 at 2026-01-01T01:02:00.000Z
          DEBIT                      CREDIT                                                         AMOUNT  ASSET
          assets:receivable:service  trading:arbitrum/0x00000000000000000000000000000000000000a1  0.900000  USDC on arbitrum
    "
  `)
})

test.each(['dep_2', txId('pay2'), txId('forward2'), txId('forward2').toUpperCase().replace('X', 'x')])(
  'deposits show finds the same one by %s',
  async (reference) => {
    expect((await depositd(`deposits show ${reference}`)).out).toBe((await depositd('deposits show 2')).out)
  },
)

test('deposits show --json is one document with everything', async () => {
  const { out } = await depositd('deposits show dep_1 --json')
  expect(JSON.parse(out)).toMatchObject({
    deposit: { id: '1', state: 'reconciled', amount: '100.000000', amount_base: '100000000' },
    matrix: { deposit: { webhook: 'agrees' }, settlement: { chain: 'agrees' } },
    journals: ['deposit/', 'settlement/', 'conversion/'].map((key) => ({
      posting_key: expect.stringContaining(key) as unknown,
      transfers: expect.arrayContaining([expect.objectContaining({ amount: '100.000000' })]) as unknown,
    })),
  })
})

test('mismatches list, the gravest first', async () => {
  const { status, out } = await depositd('mismatches list')
  expect(status).toBe(0)
  expect(ageless(out)).toMatchInlineSnapshot(`
    "ID  SEVERITY  KIND  ABOUT  AGE  ACT IN  CASE  LOSS  DEPOSIT  DETAIL
     1  severe  settlement_short  deposit/2  AGE  overdue  open  0.9 USDC  100 USDC on base  Short by 0.9 USDC: the service states 99.9, the chain shows 99
     2  warning  webhook_missing  deposit/2  AGE  overdue  open  100 USDC on base  No webhook received for this deposit since 2026-01-01T00:02:00.000Z
    "
  `)
})

test.each([
  ['', 0],
  ['--fail-on severe', 1],
  ['--fail-on info', 1],
  ['--fail-on severe --kind webhook_missing', 0],
  ['--fail-on warning --kind webhook_missing', 1],
])('mismatches list %s exits with %i', async (options, status) => {
  expect((await depositd(`mismatches list ${options}`.trim())).status).toBe(status)
})

test('an open mismatch is found before those that ended, however grave they were', async () => {
  await sql`
    insert into mismatch (subject, kind, severity, opened_at, cleared_at, cleared_how)
    select 'inbox/' || place, 'chain_missing', 'severe', '2025-01-01', now(), 'evidence'
    from generate_series(1, 3) as place`.execute(books.db)
  expect((await depositd('mismatches list --all --limit 2 --fail-on warning')).status).toBe(1)
  expect((await depositd('mismatches list --kind chain_missing --all --fail-on info')).status).toBe(0)
})

test('ledger balances', async () => {
  const { status, out } = await depositd('ledger balances')
  expect(status).toBe(0)
  expect(out).toMatchInlineSnapshot(`
    "ACCOUNT                                                                   BALANCE  SYMBOL  ASSET
    assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff   198.900000  USDC    arbitrum/0x00000000000000000000000000000000000000a1
    assets:receivable:service                                                0.900000  USDC    arbitrum/0x00000000000000000000000000000000000000a1
    expenses:fees:service                                                    0.200000  USDC    arbitrum/0x00000000000000000000000000000000000000a1
    liabilities:deposits:channel:shop                                     -200.000000  USDC    arbitrum/0x00000000000000000000000000000000000000a1
    = sum                                                                    0.000000  USDC    arbitrum/0x00000000000000000000000000000000000000a1
    Balances of zero are left out: 4. --json lists them.
    balanced: every asset sums to zero
    "
  `)
  const { balanced, totals } = JSON.parse((await depositd('ledger balances --json')).out) as {
    balanced: boolean
    totals: object[]
  }
  expect(balanced).toBe(true)
  expect(totals).toHaveLength(2)
})

test('books that do not balance are bad news', async () => {
  await using own = await openBooks()
  expect(await depositd('ledger balances', own.url)).toEqual({
    status: 0,
    out: 'nothing is booked yet\n',
    err: '',
  })
  await own.receive(webhook(), claim(), payment(), delivery())
  await own.settle()
  await breakBooks(own)
  expect((await depositd('ledger balances', own.url)).status).toBe(1)
  expect((await depositd('ledger balances', own.url)).out).toContain('NOT BALANCED')
})

/** Only who owns the schema can: the view that reads both sides is made to forget one. */
async function breakBooks({ url }: Books): Promise<void> {
  const owner = openDatabase({ url, poolMax: 1, applicationName: 'test owner' })
  await sql`create or replace view ledger_entry as
    select journal_id, leg, debit as account, asset, amount::numeric, event_at, recorded_at, period
    from ledger_transfer`.execute(owner)
  await owner.destroy()
}
