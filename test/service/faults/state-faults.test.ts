import { afterAll, beforeAll, expect, test } from 'vitest'
import { reopenDeposits } from '../../../src/service/faults/deposit-faults.ts'
import { openHandMade } from '../transfers/hand-made-network.ts'

let world: Awaited<ReturnType<typeof openHandMade>>

beforeAll(async () => {
  world = await openHandMade()
})
afterAll(() => world.close())

async function eventsOf(id: string): Promise<string[]> {
  const rows = await world.db
    .selectFrom('service.event')
    .select('type')
    .where('deposit_id', '=', id)
    .orderBy('sequence')
    .execute()
  return rows.map(({ type }) => type.replace('deposit.', ''))
}

test('a settled deposit is forwarded again after the delay, and settled again once the knob is turned back', async () => {
  const { id } = await world.channel('reopened')
  await world.convert()
  world.chain.outcome = { kind: 'landed', at: new Date(0) }
  expect(await world.round()).toBe(1)
  const settled = await world.find(id)
  expect(settled.status).toBe('settled')
  expect(await reopenDeposits(world)).toBe(0)
  world.faults.set({ reopenRate: 1, delayMs: 60_000 })
  expect(await reopenDeposits(world)).toBe(0)
  world.faults.set({ delayMs: 0 })
  expect(await reopenDeposits(world)).toBe(1)
  const { to_transaction, to_amount, to_at, fee } = settled
  const delivery = { to_transaction, to_amount, to_at, fee }
  expect(await world.find(id)).toMatchObject({ ...delivery, status: 'forwarding' })
  expect([await reopenDeposits(world), await world.round()]).toEqual([0, 0])
  world.faults.set({ reopenRate: 0 })
  expect(await reopenDeposits(world)).toBe(1)
  expect(await world.find(id)).toMatchObject({ ...delivery, status: 'settled' })
  expect((await eventsOf(id)).slice(-4)).toEqual(['forwarded', 'settled', 'forwarded', 'settled'])
})

test.each(['channel', 'stable_wallet'])(
  'what is paid to a %s fails, and is neither delivered nor given back',
  async (kind) => {
    world.faults.set({ withholdRefundRate: 1 })
    const isChannel = kind === 'channel'
    const id = isChannel ? (await world.channel('withheld')).id : await paySavings()
    expect(await world.convert()).toBe(1)
    const failed = { status: 'failed', reason: 'too_small', to_amount: null, refund_address: null }
    expect(await world.find(id)).toMatchObject(failed)
    expect(await world.round()).toBe(0)
    expect((await eventsOf(id)).slice(-2)).toEqual(['confirmed', 'failed'])
    world.faults.set({ withholdRefundRate: 0 })
    expect(await world.convert()).toBe(0)
  },
)

async function paySavings(): Promise<string> {
  const payment = world.payment(100, true)
  await world.record([payment], 100n)
  const [record] = (await world.list(`transaction=${payment.transaction}`)).data
  return record?.id ?? ''
}
