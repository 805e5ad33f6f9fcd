import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AssetKey } from '../../../src/core/asset.ts'
import { lossOf } from '../../../src/core/mismatch.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import { type HeldMismatch, openMismatches } from '../../../src/store/mismatches/mismatches.ts'
import { listMismatches } from '../../../src/store/mismatches/show-mismatches.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { usdcOnArbitrum, usdcOnBase } from '../../support/evidence.ts'
import { explainStatements } from '../../support/explain-statements.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const ether = 'base/native' as AssetKey
const about = { network: 'base', asset: usdcOnBase, value: 100_000_000n }

function held(name: string, changes: Partial<HeldMismatch> = {}): HeldMismatch {
  return { subject: `transfer/${name}`, kind: 'settlement_short', ...about, detail: {}, ...changes }
}

const open = (...all: HeldMismatch[]) => inTransaction(books.db, (tx) => openMismatches(tx, all))
const names = async () =>
  (await listMismatches(books.db, { limit: 50, also: 'all' })).map(({ subject }) => subject.split('/')[1])

test('lists are ranked by value, then by share, never by amounts of different assets, also page by page', async () => {
  await sql`insert into asset (key, network, symbol, decimals) values (${ether}, 'base', 'ETH', 18)
    on conflict do nothing`.execute(books.db)
  await open(
    held('a thousandth of an ether', { loss: lossOf(ether, 10n ** 15n, 10n ** 18n) }),
    held('nine USDC of a hundred', { loss: lossOf(usdcOnArbitrum, 9_000_000n, 100_000_000n) }),
    held('nothing', { kind: 'network_mismatch' }),
    held('a warning of everything', { kind: 'stuck', loss: lossOf(ether, 10n ** 18n) }),
    held('that cannot be measured', { kind: 'seal_broken' }),
  )
  const byShare = [
    'that cannot be measured',
    'nine USDC of a hundred',
    'a thousandth of an ether',
    'nothing',
    'a warning of everything',
  ]
  expect(await names()).toEqual(byShare)
  await keepValuation(books.db, { currency: 'EUR', maxAgeMs: 86_400_000 })
  await sql`insert into price (asset, currency, at, price, source)
    values (${ether}, 'EUR', now() - interval '1 hour', 20000, 'test')`.execute(books.db)
  const byValue = [
    'that cannot be measured',
    'a thousandth of an ether',
    'nine USDC of a hundred',
    ...byShare.slice(3),
  ]
  expect(await names()).toEqual(byValue)
  const paged: (string | undefined)[] = []
  let after: bigint | undefined
  for (;;) {
    const [row] = await listMismatches(books.db, { limit: 1, also: 'all', after })
    if (row === undefined) break
    paged.push(row.subject.split('/')[1])
    after = BigInt(row.id)
  }
  expect(paged).toEqual(byValue)
})

test('what the order does not need is read for the rows of the page alone', async () => {
  const plans = await inTransaction(books.db, async (tx) => {
    const explained = explainStatements(tx)
    await listMismatches(explained.tx, { limit: 50, also: 'nothing', isOverdue: true })
    return explained.plans
  })
  const [plan = ''] = plans
  expect(plan.match(/ on wallet_balance/g)).toHaveLength(1)
  expect(plan).not.toContain('Function Scan')
  expect(plan).toMatch(/Presorted Key: p\w*\.at/)
})

test('a loss is shown beside the amount of the deposit, in its own asset, with its value', async () => {
  const [, first] = await listMismatches(books.db, { limit: 2, also: 'all' })
  expect(first).toMatchObject({
    amount: '100.000000',
    asset_symbol: 'USDC',
    asset: usdcOnBase,
    amount_base: '100000000',
    loss: '0.001000000000000000',
    loss_base: '1000000000000000',
    loss_asset: ether,
    loss_asset_symbol: 'ETH',
    loss_value: '20.000000000000000000',
    currency: 'EUR',
    loss_share: '0.001000',
  })
})

test('sums are per asset: each transfer counts once, with its largest loss, under the highest severity', async () => {
  await open(
    held('nine USDC of a hundred', {
      kind: 'stuck',
      loss: lossOf(usdcOnArbitrum, 50_000_000n, 100_000_000n),
    }),
  )
  const { rows } = await sql`
    select asset, severity, transfers::int as transfers, amount::text as amount, value::text as value
    from accounting.value_at_risk order by asset, severity`.execute(books.db)
  expect(rows).toEqual([
    { asset: usdcOnArbitrum, severity: 'severe', transfers: 1, amount: '50.000000', value: null },
    {
      asset: ether,
      severity: 'severe',
      transfers: 1,
      amount: '0.001000000000000000',
      value: '20.000000000000000000',
    },
    {
      asset: ether,
      severity: 'warning',
      transfers: 1,
      amount: '1.000000000000000000',
      value: '20000.000000000000000000',
    },
  ])
})

test('another loss is other evidence: what a person had resolved is open again', async () => {
  await sql`update mismatch set resolved_at = now(), resolved_by = 'erin', resolved_reason = 'claimed'`.execute(
    books.owner,
  )
  await open(held('nothing', { kind: 'network_mismatch' }))
  expect((await listMismatches(books.db, { limit: 9, also: 'nothing' })).length).toBe(0)
  await open(held('nothing', { kind: 'network_mismatch', loss: lossOf(ether, 5n) }))
  expect(
    (await listMismatches(books.db, { limit: 9, also: 'nothing' })).map(({ loss_base }) => loss_base),
  ).toEqual(['5'])
})
