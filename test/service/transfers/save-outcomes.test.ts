import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toTxId } from '../../../src/core/asset.ts'
import { lockDeposits } from '../../../src/service/deposits/deposits.ts'
import type { ServiceTransferRow } from '../../../src/service/tables.ts'
import { type EndedTransfer, saveOutcomes } from '../../../src/service/transfers/settle-transfers.ts'
import { untilWaiting } from '../../support/waiting.ts'
import { openHandMade } from './hand-made-network.ts'

let world: Awaited<ReturnType<typeof openHandMade>>

beforeAll(async () => {
  world = await openHandMade()
})

afterAll(() => world.close())

async function stored(columns: string, values: string): Promise<ServiceTransferRow> {
  const { rows } = await sql<ServiceTransferRow>`
    insert into service.transfer (network, branch, asset, to_address, amount, ${sql.raw(columns)})
    values ('mainnet', ${sql.raw(values)}) returning *`.execute(world.db)
  const [row] = rows
  if (row === undefined) throw new Error('nothing was stored')
  return row
}

/** Once: who fails by a deadlock is not tried again. */
function save(ended: readonly EndedTransfer[]): Promise<number> {
  return world.db.transaction().execute((tx) => saveOutcomes({ ...world.work, tx }, ended))
}

const landed = { kind: 'landed', at: new Date() } as const
const reverted = { kind: 'reverted' } as const

test('outcomes wait for the deposits that they change before they hold up the events of others', async () => {
  const paid = await world.channel('paid')
  const swept = await world.channel('swept')
  await world.convert()
  const forward = await stored('kind, deposit_id', `0, 'native', 'x', 1, 'forward', '${paid.id}'`)
  await world.db.transaction().execute(async (tx) => {
    const forwarding = { id: paid.id, status: 'forwarding', to_transaction: 'forwarded' } as const
    await world.deposits.change(tx, ['converting'], [forwarding])
  })
  const sweep = await stored('kind', `7, 'native', 'x', 1, 'sweep'`)
  await sql`update service.deposit set sweep_id = ${sweep.id} where id = ${swept.id}`.execute(world.db)
  const ended: EndedTransfer[] = [
    { transfer: forward, outcome: landed, transaction: 'forwarded' },
    { transfer: sweep, outcome: reverted, transaction: 'swept' },
  ]
  const saving = await world.db.transaction().execute(async (tx) => {
    await lockDeposits(tx, [swept.id])
    const saved = save(ended).catch((error: unknown) => error)
    await untilWaiting(world.db)
    const forwarding = { id: swept.id, status: 'forwarding', to_transaction: 'other' } as const
    await world.deposits.change(tx, ['converting'], [forwarding])
    return { saved }
  })
  expect(await saving.saved).toBe(2)
  expect(await world.find(paid.id)).toMatchObject({ status: 'settled' })
  expect(await world.find(swept.id)).toMatchObject({ status: 'forwarding', sweep_id: null })
})

test('an outcome that is told late changes nothing of what was tried since', async () => {
  const { rows } = await sql<{ sequence: bigint }>`
    insert into service.withdrawal (wallet_id, id, network, recipient, asset, amount, status, transaction)
    values ('savings', 'one', 'mainnet', 'x', 'native', 1, 'sending', 'first') returning sequence`.execute(
    world.db,
  )
  const sequence = rows[0]?.sequence ?? 0n
  const first = await stored('kind, withdrawal', `0, 'native', 'x', 1, 'withdrawal', ${sequence}`)
  const ended: EndedTransfer[] = [{ transfer: first, outcome: reverted, transaction: 'first' }]
  expect(await save(ended)).toBe(1)
  await stored('kind, withdrawal, attempt', `0, 'native', 'x', 1, 'withdrawal', ${sequence}, 2`)
  await sql`update service.withdrawal set transaction = 'second' where sequence = ${sequence}`.execute(
    world.db,
  )
  expect(await save(ended)).toBe(0)
  const withdrawal = world.db.selectFrom('service.withdrawal').select(['status', 'transaction'])
  expect(await withdrawal.executeTakeFirst()).toEqual({ status: 'sending', transaction: 'second' })
})

test('a top-up that was reverted puts off the sweep of the tokens for which it was wanted', async () => {
  const { address } = await world.channel('gasless')
  const topUp = await stored('kind', `0, 'native', '${address}', 1, 'top_up'`)
  await save([{ transfer: topUp, outcome: reverted, transaction: toTxId('topped') }])
  expect(world.work.backoff.waiting()).toContain(`top_up/${address}`)
})
