import { sql } from 'kysely'
import { getAddress } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../src/core/chart.ts'
import { createServiceCall } from '../../src/provider/service-call.ts'
import { openDatabase } from '../../src/store/database.ts'
import { allReconciled } from '../support/all-reconciled.ts'
import { runCommand } from '../support/command.ts'
import { patientPolicy } from '../support/patient-policy.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 60_000
const stack = new AsyncDisposableStack()
let world: World

/** Every few seconds instead of every hour. A poll would read the record that a test alters, and the balance would be explained. */
const sections = () => ({ schedule: { audit: '*/3 * * * * *', pollQuiet: '1h' } })

beforeAll(async () => {
  const policy = { ...patientPolicy, settlementWithin: '15s' }
  world = await startWorld({ networks: ['base', 'arbitrum'], policy, sections }, stack)
  const tx = await world.pay({ network: 'base', symbol: 'USDC', owner: wallet, amount: '575.35' })
  await until('the wallet is credited', () => allReconciled(world, [tx]), withinMs)
})
afterAll(() => stack.disposeAsync())

const wallet = 'savings'
/** In no address book. */
const stranger = getAddress('0x00000000000000000000000000000000000000de')

type Wanted = { id: string; network: string; recipient: string; amount: string }

/** As the customer does at the service. */
async function withdraw(body: Wanted): Promise<void> {
  const [service] = world.settings.services
  const path = `/v1/stable-wallets/${wallet}/withdrawals`
  const answer = await createServiceCall(service)({ method: 'POST', path, body })
  expect(answer.kind === 'refused' ? answer.problem : answer.kind).toBe('answered')
}

/** Null until then. */
async function arePaid(ids: readonly string[]): Promise<true | null> {
  const { rows } = await sql`
    select from withdrawal
    where wallet = ${wallet} and withdrawal_id = any(${ids}::text[]) and state = 'paid'`.execute(world.db)
  return rows.length === ids.length || null
}

/** Null until then. */
async function isTied(): Promise<true | null> {
  const { rows } = await sql`
    select from wallet_balance
    where wallet = ${wallet} and balance = books and leaving + arriving = 0`.execute(world.db)
  return rows.length > 0 || null
}

async function openKinds(): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`
    select kind from mismatch where cleared_at is null order by kind`.execute(world.db)
  return rows.map(({ kind }) => kind)
}

async function isOpen(): Promise<boolean> {
  return (await openKinds()).includes('wallet_balance_mismatch')
}

test('what is withdrawn leaves the books, to a recipient that is watched and to one that is not', async () => {
  const watched = world.owners.find(({ forward }) => forward?.network === 'base')?.forward?.recipient ?? ''
  await withdraw({ id: 'w-1', network: 'base', recipient: watched, amount: '100000000' })
  await withdraw({ id: 'w-2', network: 'arbitrum', recipient: stranger, amount: '50000000' })
  await until('both are paid', () => arePaid(['w-1', 'w-2']), withinMs)
  const { rows } = await sql<{ amount: string; debit: string; credit: string }>`
    select amount::text, debit, credit from ledger_journal journal join ledger_transfer on journal_id = journal.id
    where kind = 'withdrawal' order by ledger_transfer.amount`.execute(world.db)
  const sides = {
    debit: accounts.deposits({ kind: 'stable_wallet', id: wallet }),
    credit: accounts.stableWallet(wallet),
  }
  expect(rows).toEqual([
    { amount: '50000000', ...sides },
    { amount: '100000000', ...sides },
  ])
  await until('the balances agree', isTied, withinMs)
  expect(await openKinds()).toEqual([])
})

test('all of it comes out of the raw evidence again', async () => {
  const { status, out } = await runCommand('rebuild --verify --json', world.environment)
  expect(JSON.parse(out)).toMatchObject({ differences: [] })
  expect(status).toBe(0)
})

test('a balance that the books do not explain is a mismatch until it is explained', async () => {
  const theirs = openDatabase<object>({ url: world.serviceDatabaseUrl, poolMax: 1, applicationName: 'test' })
  stack.defer(() => theirs.destroy())
  const overstate = (by: number) =>
    sql`update service.deposit set to_amount = to_amount + ${by} where owner_id = ${wallet}`.execute(theirs)
  await overstate(-7)
  await until('it is noticed', async () => (await isOpen()) || null, withinMs)
  const { rows } = await sql`
    select value::text, loss_amount::text as loss, detail ->> 'difference' as difference from mismatch
    where kind = 'wallet_balance_mismatch' and cleared_at is null`.execute(world.db)
  expect(rows).toEqual([{ value: '7', loss: '7', difference: '-7' }])
  await overstate(7)
  await until('it is explained', async () => !(await isOpen()) || null, withinMs)
})
