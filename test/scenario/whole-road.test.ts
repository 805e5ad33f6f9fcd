import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { showDeposits } from '../../src/store/books/show-deposits.ts'
import { notCovered } from '../oracle/chain-coverage.ts'
import { allReconciled } from '../support/all-reconciled.ts'
import { runCommand } from '../support/command.ts'
import { patientPolicy } from '../support/patient-policy.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 120_000

const payments = [
  { network: 'base', symbol: 'USDC', owner: 'shop', amount: '10' },
  { network: 'arbitrum', symbol: 'ETH', owner: 'payroll', amount: '0.01' },
  { network: 'solana', symbol: 'USDT', owner: 'shop', amount: '12.5' },
  { network: 'solana', symbol: 'SOL', owner: 'savings', amount: '0.5' },
  { network: 'mainnet', symbol: 'USDT', owner: 'savings', amount: '7' },
]

const stack = new AsyncDisposableStack()
let world: World
let txs: string[]

/** With the queue in Postgres; test/scenario/apart.test.ts goes the same way with Redis. */
beforeAll(async () => {
  world = await startWorld({ policy: patientPolicy }, stack)
  txs = await Promise.all(payments.map((payment) => world.pay(payment)))
  await until('every payment is reconciled', () => allReconciled(world, txs), withinMs)
})
afterAll(() => stack.disposeAsync())

test('webhook, API and chain agree on every leg of every deposit', async () => {
  const shown = (await Promise.all(txs.map((tx) => showDeposits(world.db, tx)))).flat()
  expect(shown).toHaveLength(payments.length)
  for (const { matrix, deposit, mismatches, evidence } of shown) {
    const isCredited = deposit.owner_kind === 'stable_wallet'
    const agrees = { webhook: 'agrees', api: 'agrees', chain: 'agrees' }
    expect(matrix).toEqual({
      deposit: agrees,
      settlement: isCredited ? { ...agrees, chain: 'not_applicable' } : agrees,
    })
    expect(mismatches).toEqual([])
    expect(new Set(evidence.map(({ source }) => source))).toEqual(new Set(['webhook', 'api', 'chain']))
  }
})

test('the books hold each deposit once, sum to zero per asset and leave nothing in transit', async () => {
  const journals = await sql<{ kind: string; count: bigint }>`
    select kind, count(*) from ledger_journal group by kind order by kind`.execute(world.db)
  expect(journals.rows).toEqual([
    // All but USDC from Base to Base.
    { kind: 'conversion', count: BigInt(payments.length - 1) },
    { kind: 'deposit', count: BigInt(payments.length) },
    { kind: 'settlement', count: BigInt(payments.length) },
  ])
  const sums = await sql<{ sum: string }>`
    select sum(balance)::text as sum from ledger_balance group by asset`.execute(world.db)
  expect(new Set(sums.rows.map(({ sum: total }) => total))).toEqual(new Set(['0']))
  const transit = await sql<{ balance: string }>`
    select balance::text from ledger_balance where account like 'assets:in_transit:%'`.execute(world.db)
  expect(new Set(transit.rows.map(({ balance }) => balance))).toEqual(new Set(['0']))
})

test('what is owed is what was delivered, and the fee of a channel, to the unit', async () => {
  const { rows: owed } = await sql`
    select account, asset, -balance as amount from ledger_balance
    where account like 'liabilities:deposits:%' and balance <> 0 order by 1, 2`.execute(world.db)
  const { rows: delivered } = await sql`
    select 'liabilities:deposits:' || owner_kind || ':' || owner_id as account, settlement_asset as asset,
      sum(settlement_amount + case owner_kind when 'channel' then fee_amount else 0 end) as amount
    from deposit where state = 'reconciled' group by 1, 2 order by 1, 2`.execute(world.db)
  expect(owed).toHaveLength(3)
  expect(owed).toEqual(delivered)
})

test('all of it comes out of the raw evidence again, while the daemon works; what does not is named', async () => {
  const verify = async () => {
    const { status, out } = await runCommand('rebuild --verify --json', world.environment)
    return { status, ...(JSON.parse(out) as { differences: object[] }) }
  }
  const good = await verify()
  expect(good).toMatchObject({ status: 0, differing: 0, differences: [] })
  const settled = sql`update deposit set fee_amount = fee_amount + 1 where tx = ${txs[0]} returning service_id`
  const { rows } = await settled.execute(world.db)
  const subject = `deposit ${(rows as { service_id: string }[])[0]?.service_id}`
  expect(await verify()).toMatchObject({ status: 1, differing: 1, differences: [{ subject }] })
  await sql`update deposit set fee_amount = fee_amount - 1 where tx = ${txs[0]}`.execute(world.db)
})

test('what every deposit address holds is explained, swept or not', async () => {
  const { out } = await runCommand('doctor --balances --json', world.environment)
  const { checks: findings } = JSON.parse(out) as {
    checks: { check: string; state: string; says: string }[]
  }
  const proved = findings.filter(({ check }) => check.startsWith('balances '))
  expect(proved.filter(({ state }) => state !== 'ok')).toEqual([])
  expect(proved).toHaveLength(world.networks.length)
  const { rows } = await sql`select 1 from chain_movement where change < 0 limit 1`.execute(world.db)
  expect(rows).toHaveLength(1)
})

test('every address was read from its first height up to the cursor, also those that came late', async () => {
  const late = await sql<{ count: bigint }>`
    select count(distinct enrolled_at) from chain_watch group by network order by 1 desc`.execute(world.db)
  expect(late.rows).toHaveLength(4)
  const missing = () => sql.raw(notCovered).execute(world.db)
  await expect.poll(async () => (await missing()).rows).toEqual([])
})

test('metrics tell of it, and the daemon is ready', async () => {
  await expect
    .poll(() => metricsOf(world))
    .toContain('depositd_deposits{state="reconciled",service="default",network="base"} 1')
  await expect
    .poll(() => metricsOf(world))
    .toMatch(
      /depositd_stage_lag_seconds_count\{stage="reconciliation",service="default",network="solana"\} 2/,
    )
  await expect.poll(async () => (await fetch(`${world.daemon.opsUrl}/readyz`)).status).toBe(200)
})

async function metricsOf({ daemon }: World): Promise<string> {
  return (await fetch(`${daemon.opsUrl}/metrics`)).text()
}
