import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { defaultService, type ServiceId, stableWalletNetwork } from '../../../src/core/evidence.ts'
import { applyPending } from '../../../src/jobs/books/apply.ts'
import { auditWallets } from '../../../src/jobs/books/audit-wallets.ts'
import { mismatchSentence } from '../../../src/presentation/mismatch-sentence.ts'
import type { Profile } from '../../../src/provider/profile/profile-schema.ts'
import { createServiceReader, readerOfServices } from '../../../src/provider/read-evidence.ts'
import { createServiceCall } from '../../../src/provider/service-call.ts'
import { createWalletsClient } from '../../../src/provider/wallets-client.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { workOnCases } from '../../../src/store/mismatches/cases.ts'
import { showMismatch } from '../../../src/store/mismatches/show-mismatches.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  at,
  base,
  claim,
  credit,
  elsewhere,
  payment,
  policy,
  txId,
  walletAddress,
  walletApproval,
} from '../../support/evidence.ts'
import { vocabulary } from '../../support/own-payloads.ts'
import { ownProfile } from '../../support/profile.ts'
import { startRawService } from '../../support/raw-service.ts'
import { keyAuth } from '../../support/service-auth.ts'

let books: Books
let stack: AsyncDisposableStack
let now: Date
/** What the service answers, and what it was asked. */
let balance: string
let records: object[]
const asked: string[] = []
/** The service refuses all that is asked of this wallet. */
let refused: string | null
/** Before the service answers. */
let meanwhile: (path: string) => Promise<unknown>
const pageSize = 2

/** Of 99.9 USDC to the wallet, which was credited. */
const credited = (id: string, tx: string) =>
  claim({
    serviceId: id as ServiceId,
    owner: walletApproval.owner,
    deposit: { address: walletAddress, tx: txId(tx) },
    settlement: { network: stableWalletNetwork, address: 'savings' as Address, asset: credit, tx: null },
  })

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  await books.receive(credited('dep_1', 'pay'), payment({ to: walletAddress }))
  await books.settle()
  now = at(0)
  balance = '99900000'
  records = []
  refused = null
  meanwhile = () => Promise.resolve()
  asked.length = 0
})
afterEach(() => stack.disposeAsync())

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

async function audit(profile: Profile = ownProfile) {
  const { url } = stack.use(
    await startRawService(async ({ url: path = '' }, response) => {
      asked.push(path)
      await meanwhile(path)
      if (refused !== null && path.includes(refused)) response.statusCode = 403
      const from = Number(new URL(path, 'http://x').searchParams.get('cursor') ?? 0)
      const next = from + pageSize < records.length ? `${from + pageSize}` : null
      const page = { data: records.slice(from, from + pageSize), next_cursor: next }
      const wallet = { stable_wallet: { balance: { asset: 'USDC', decimals: 6, amount: balance } } }
      response.end(JSON.stringify(path.includes('/withdrawals') ? page : wallet))
    }),
  )
  const service = { name: defaultService, url, call: createServiceCall({ url, auth: keyAuth('key') }) }
  const readClaim = readerOfServices(new Map([[defaultService, createServiceReader(profile, vocabulary)]]))
  const apply = () => applyPending({ ...books.deps, readClaim })
  const deps = {
    db: books.db,
    rules: { policy },
    creditAsset: credit,
    now: () => (now = new Date(now.getTime() + 1)),
    apply,
  }
  return auditWallets(deps, createWalletsClient(service, profile, vocabulary))
}

async function open() {
  const { rows } = await sql<{ kind: string; value: string; loss: string | null }>`
    select kind, value::text, loss_amount::text as loss from mismatch
    where cleared_at is null and deposit_id is null`.execute(books.db)
  return rows
}

async function states(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select withdrawal_id || ' ' || state as text from withdrawal order by 1`.execute(books.db)
  return rows.map(({ text }) => text)
}

/** Later than a difference may last. */
const muchLater = () => new Date(now.getTime() + policy.settlementWithinMs)

test('all pages of a list are read, and a changed withdrawal is stored again', async () => {
  records = [record('w-3'), record('w-2'), record('w-1', { status: 'failed' })]
  expect(await audit()).toMatchObject({ stored: 3, compared: 1 })
  expect(await states()).toEqual(['w-1 failed', 'w-2 requested', 'w-3 requested'])
  expect(asked.filter((path) => path.includes('/withdrawals'))).toHaveLength(2)
  asked.length = 0
  records = [record('w-3', { status: 'failed' }), ...records.slice(1)]
  expect(await audit()).toMatchObject({ stored: 1 })
  expect(await states()).toContain('w-3 failed')
  asked.length = 0
  expect(await audit()).toMatchObject({ stored: 0 })
  expect(asked).toEqual([
    expect.stringMatching(/^\/v1\/stable-wallets\/savings\/withdrawals\?/),
    expect.stringMatching(/^\/v1\/stable-wallets\/savings\/withdrawals\?.*cursor=2/),
    '/v1/stable-wallets/savings',
  ])
})

test('a difference is a mismatch once it has lasted, until the balance is explained', async () => {
  balance = '99899993'
  expect((await audit()).changes).toEqual([])
  now = muchLater()
  expect((await audit()).changes).toMatchObject([{ kind: 'wallet_balance_mismatch', change: 'opened' }])
  expect(await open()).toEqual([{ kind: 'wallet_balance_mismatch', value: '7', loss: '7' }])
  balance = '99900007'
  await audit()
  expect(await open()).toEqual([{ kind: 'wallet_balance_mismatch', value: '7', loss: null }])
  balance = '99900000'
  expect((await audit()).changes).toMatchObject([{ change: 'cleared' }])
  balance = '99900007'
  now = muchLater()
  expect((await audit()).changes).toEqual([])
})

test('a resolved difference opens again only if it changes, and shows the balances of now', async () => {
  balance = '99899993'
  await audit()
  now = muchLater()
  await audit()
  const ofKind = books.db.selectFrom('mismatch').where('kind', '=', 'wallet_balance_mismatch')
  const { id } = await ofKind.select('id').executeTakeFirstOrThrow()
  const act = { actor: 'erin', action: 'resolved', text: 'a fee of theirs' } as const
  await inTransaction(books.db, (tx) => workOnCases(tx, [id], act))
  await books.receive(credited('dep_2', 'second'), payment({ to: walletAddress, tx: txId('second') }))
  await books.settle()
  balance = '199799993'
  expect((await audit()).changes).toEqual([])
  const shown = await showMismatch(books.db, id)
  expect(shown?.mismatch.status).toBe('resolved')
  expect(shown && mismatchSentence(shown.mismatch)).toBe(
    'The balance of savings differs from the books by -0.000007 USDC: the service states 199.799993, the books hold 199.8 with 0 leaving and 0 arriving',
  )
  balance = '199799992'
  expect((await audit()).changes).toMatchObject([{ change: 'reopened' }])
})

test('withdrawals and credits under way explain a balance between them', async () => {
  records = [record('w-1')]
  await books.receive(credited('dep_2', 'second'))
  await books.settle()
  for (const [held, isExplained] of [
    ['59900000', true],
    ['59899999', false],
    ['199800000', true],
    ['199800001', false],
  ] as const) {
    balance = held
    await audit()
    const { rows } = await sql`select from wallet_balance where differs_since is null`.execute(books.db)
    expect({ held, isExplained: rows.length === 1 }).toEqual({ held, isExplained })
  }
  await books.receive(payment({ to: walletAddress, tx: txId('second') }))
  await books.settle()
  await audit()
  const { rows } = await sql`select books::text, leaving::text, arriving::text from wallet_balance`.execute(
    books.db,
  )
  expect(rows).toEqual([{ books: '199800000', leaving: '40000000', arriving: '0' }])
})

test('a withdrawal that cannot be read is a mismatch, and the others are read', async () => {
  records = [record('w-2', { status: 'lost' }), record('w-1')]
  await audit()
  expect(await states()).toEqual(['w-1 requested'])
  expect(await open()).toMatchObject([{ kind: 'schema_drift' }])
})

const till = { kind: 'stable_wallet', id: 'till' } as const

const openTill = () =>
  saveOwner(books.db, { owner: till, deposits: [{ network: base, address: elsewhere }], forward: null })

async function balances(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', wallet, balance, case when differs_since is not null then 'differs' end) as text
    from wallet_balance order by 1`.execute(books.db)
  return rows.map(({ text }) => text)
}

test('each balance is compared with the books as they are at its reading', async () => {
  await openTill()
  meanwhile = async (path) => {
    if (path !== '/v1/stable-wallets/till') return
    meanwhile = () => Promise.resolve()
    balance = '0'
    await books.receive(credited('dep_2', 'second'), payment({ to: walletAddress, tx: txId('second') }))
    await books.settle()
  }
  await audit()
  expect(await balances()).toEqual(['savings 99900000', 'till 0'])
})

test('an older reading that ends later changes nothing', async () => {
  balance = '99899993'
  meanwhile = async (path) => {
    if (path.includes('/withdrawals')) return
    meanwhile = () => Promise.resolve()
    balance = '99900000'
    await audit()
    balance = '99899993'
  }
  await audit()
  expect(await balances()).toEqual(['savings 99900000'])
})

test('without the calls in the profile nothing is asked', async () => {
  const { balance: _balance, withdrawals: _withdrawals, ...wallets } = ownProfile.owners.wallets
  const profile = { ...ownProfile, owners: { ...ownProfile.owners, wallets } }
  expect(await audit(profile)).toEqual({ stored: 0, compared: 0, changes: [] })
  expect(asked).toEqual([])
})

test('a wallet that cannot be read keeps its mismatch, and the others are read', async () => {
  await openTill()
  balance = '99899993'
  await audit().catch(() => null)
  now = muchLater()
  await audit()
  const subjects = [{ value: '7' }, { value: '99899993' }]
  expect((await open()).toSorted((one, other) => one.value.length - other.value.length)).toMatchObject(
    subjects,
  )
  refused = 'savings'
  balance = '0'
  await expect(audit()).rejects.toThrow(/savings/)
  expect(await open()).toMatchObject([{ value: '7' }])
})
