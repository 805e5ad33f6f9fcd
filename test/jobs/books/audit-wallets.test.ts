import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { mismatchSentence } from '../../../src/presentation/mismatch-sentence.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { workOnCases } from '../../../src/store/mismatches/cases.ts'
import { showMismatch } from '../../../src/store/mismatches/show-mismatches.ts'
import {
  type AuditedWallets,
  credited,
  openAuditedWallets,
  openWallet,
  receiveCredit,
} from '../../support/audited-wallets.ts'
import { at, elsewhere, payment, policy, txId, walletAddress } from '../../support/evidence.ts'
import { ownProfile } from '../../support/profile.ts'

let world: AuditedWallets

beforeEach(async () => {
  world = await openAuditedWallets()
})
afterEach(() => world[Symbol.asyncDispose]())

const record = (id: string, changes: object = {}) => ({
  id,
  status: 'requested',
  network: 'arbitrum',
  recipient: '0x00000000000000000000000000000000000000AA',
  amount: '40000000',
  decimals: 6,
  transaction: null,
  updated_at: at(1).toISOString(),
  ...changes,
})

async function open() {
  const { rows } = await sql<{ kind: string; value: string; loss: string | null }>`
    select kind, value::text, loss_amount::text as loss from mismatch
    where cleared_at is null and deposit_id is null`.execute(world.books.db)
  return rows
}

async function states(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select withdrawal_id || ' ' || state as text from withdrawal order by 1`.execute(world.books.db)
  return rows.map(({ text }) => text)
}

/** Later than a difference may last. */
const muchLater = () => new Date(world.now.getTime() + policy.settlementWithinMs)

test('all pages of a list are read, and a changed withdrawal is stored again', async () => {
  world.records = [record('w-3'), record('w-2'), record('w-1', { status: 'failed' })]
  expect(await world.audit()).toMatchObject({ stored: 3, compared: 1 })
  expect(await states()).toEqual(['w-1 failed', 'w-2 requested', 'w-3 requested'])
  expect(world.asked.filter((path) => path.includes('/withdrawals'))).toHaveLength(2)
  world.asked.length = 0
  world.records = [record('w-3', { status: 'failed' }), ...world.records.slice(1)]
  expect(await world.audit()).toMatchObject({ stored: 1 })
  expect(await states()).toContain('w-3 failed')
  world.asked.length = 0
  expect(await world.audit()).toMatchObject({ stored: 0 })
  expect(world.asked).toEqual([
    expect.stringMatching(/^\/v1\/stable-wallets\/savings\/withdrawals\?/),
    expect.stringMatching(/^\/v1\/stable-wallets\/savings\/withdrawals\?.*cursor=2/),
    '/v1/stable-wallets/savings',
  ])
})

test('a difference is a mismatch once it has lasted, until the balance is explained', async () => {
  world.balance = '99899993'
  expect((await world.audit()).changes).toEqual([])
  world.now = muchLater()
  expect((await world.audit()).changes).toMatchObject([{ kind: 'wallet_balance_mismatch', change: 'opened' }])
  expect(await open()).toEqual([{ kind: 'wallet_balance_mismatch', value: '7', loss: '7' }])
  world.balance = '99900007'
  await world.audit()
  expect(await open()).toEqual([{ kind: 'wallet_balance_mismatch', value: '7', loss: null }])
  world.balance = '99900000'
  expect((await world.audit()).changes).toMatchObject([{ change: 'cleared' }])
  world.balance = '99900007'
  world.now = muchLater()
  expect((await world.audit()).changes).toEqual([])
})

test('a resolved difference opens again only if it changes, and shows the balances of now', async () => {
  world.balance = '99899993'
  await world.audit()
  world.now = muchLater()
  await world.audit()
  const ofKind = world.books.db.selectFrom('mismatch').where('kind', '=', 'wallet_balance_mismatch')
  const { id } = await ofKind.select('id').executeTakeFirstOrThrow()
  const act = { actor: 'erin', action: 'resolved', text: 'a fee of theirs', decision: null } as const
  await inTransaction(world.books.owner, (tx) => workOnCases(tx, [id], act))
  await receiveCredit(world.books, 'dep_2', 'second')
  world.balance = '199799993'
  expect((await world.audit()).changes).toEqual([])
  const shown = await showMismatch(world.books.db, id)
  expect(shown?.mismatch.status).toBe('resolved')
  expect(shown && mismatchSentence(shown.mismatch)).toBe(
    'The balance of savings differs from the books by -0.000007 USDC: the service states 199.799993, the books hold 199.8 with 0 leaving and 0 arriving',
  )
  world.balance = '199799992'
  expect((await world.audit()).changes).toMatchObject([{ change: 'reopened' }])
})

test('withdrawals and credits under way explain a balance between them', async () => {
  world.records = [record('w-1')]
  await world.books.receive(credited('dep_2', 'second'))
  await world.books.settle()
  for (const [held, isExplained] of [
    ['59900000', true],
    ['59899999', false],
    ['199800000', true],
    ['199800001', false],
  ] as const) {
    world.balance = held
    await world.audit()
    const { rows } = await sql`select from wallet_balance where differs_since is null`.execute(world.books.db)
    expect({ held, isExplained: rows.length === 1 }).toEqual({ held, isExplained })
  }
  await world.books.receive(payment({ to: walletAddress, tx: txId('second') }))
  await world.books.settle()
  await world.audit()
  const { rows } = await sql`select books::text, leaving::text, arriving::text from wallet_balance`.execute(
    world.books.db,
  )
  expect(rows).toEqual([{ books: '199800000', leaving: '40000000', arriving: '0' }])
})

test('a withdrawal that cannot be read is a mismatch, and the others are read', async () => {
  world.records = [record('w-2', { status: 'lost' }), record('w-1')]
  await world.audit()
  expect(await states()).toEqual(['w-1 requested'])
  expect(await open()).toMatchObject([{ kind: 'schema_drift' }])
})

async function balances(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', wallet, balance, case when differs_since is not null then 'differs' end) as text
    from wallet_balance order by 1`.execute(world.books.db)
  return rows.map(({ text }) => text)
}

test('each balance is compared with the books as they are at its reading', async () => {
  await openWallet(world, 'till', elsewhere)
  world.meanwhile = async (path) => {
    if (path !== '/v1/stable-wallets/till') return
    world.meanwhile = () => Promise.resolve()
    world.balance = '0'
    await receiveCredit(world.books, 'dep_2', 'second')
  }
  await world.audit()
  expect(await balances()).toEqual(['savings 99900000', 'till 0'])
})

test('an older reading that ends later changes nothing', async () => {
  world.balance = '99899993'
  world.meanwhile = async (path) => {
    if (path.includes('/withdrawals')) return
    world.meanwhile = () => Promise.resolve()
    world.balance = '99900000'
    await world.audit()
    world.balance = '99899993'
  }
  await world.audit()
  expect(await balances()).toEqual(['savings 99900000'])
})

test('without the calls in the profile nothing is asked', async () => {
  const { balance: _balance, withdrawals: _withdrawals, ...wallets } = ownProfile.owners.wallets
  const profile = { ...ownProfile, owners: { ...ownProfile.owners, wallets } }
  expect(await world.audit(profile)).toEqual({
    stored: 0,
    compared: 0,
    changes: [],
    unread: [],
    isAway: false,
  })
  expect(world.asked).toEqual([])
})
