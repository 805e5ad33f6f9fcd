import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fault } from '../../../src/core/errors.ts'
import { dueSweeps } from '../../../src/service/transfers/due-sweeps.ts'
import { storeSigned } from '../../../src/service/transfers/store-signed.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { openHandMade } from './hand-made-network.ts'

let world: Awaited<ReturnType<typeof openHandMade>>

beforeAll(async () => {
  world = await openHandMade()
})

afterAll(() => world.close())

test('an address that cannot be asked about keeps no other from its sweep', async () => {
  const frozen = await world.channel('frozen')
  const other = await world.channel('other')
  world.network.balance = (branch) =>
    branch === frozen.branch
      ? Promise.reject(new Fault('remote_failed', { what: 'paying', problem: 'frozen' }))
      : Promise.resolve(10n ** 30n)
  const branches = async () =>
    (await dueSweeps(world.work, { minimums: {} })).map(({ order }) => order.branch)
  expect(await branches()).toEqual([other.branch])
  expect(world.work.backoff.waiting()).toEqual([`sweep/${frozen.branch}/native`])
  expect(await branches()).toEqual([other.branch])
})

test('storing a sweep looks at the deposits that it collects, and at no others', async () => {
  await inTransaction(world.db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`
      insert into service.deposit (id, owner_kind, owner_id, status, network, address, asset, decimals, amount,
        transaction, index, block, block_at, to_network, to_address, to_asset, to_decimals, sweep_id)
      select 'dep_x' || n, 'channel', 'frozen', 'confirmed', 'mainnet', 'x', 'ETH', 18, 1,
        'x' || n, '0', 1, now(), 'base', 'x', 'USDC', 6, 1 from generate_series(1, 5000) n`.execute(tx)
  })
  await sql`analyze service.deposit`.execute(world.db)
  const [wanted] = await dueSweeps(world.work, { minimums: {} })
  if (wanted === undefined) throw new Error('nothing is to be swept')
  const draft = await world.network.draft(wanted.order)
  const read = await inTransaction(world.db, async (tx) => {
    // As with millions of them, which a test has not.
    await sql`set local enable_seqscan = off`.execute(tx)
    await sql`set local enable_hashjoin = off`.execute(tx)
    await sql`set local enable_mergejoin = off`.execute(tx)
    const nonces = new Map([[wanted.order.branch, 1n]])
    expect(await storeSigned({ ...world.work, tx }, [{ wanted, draft }], nonces)).toHaveLength(1)
    const { rows } = await sql<{ tuples: bigint }>`
      select seq_tup_read + coalesce(idx_tup_fetch, 0) as tuples
      from pg_stat_xact_user_tables where relid = 'service.deposit'::regclass`.execute(tx)
    return Number(rows[0]?.tuples)
  })
  expect(read).toBeLessThan(50)
})
