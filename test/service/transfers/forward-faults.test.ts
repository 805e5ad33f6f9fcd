import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import {
  forwardsOf,
  liquidity,
  minedUntil,
  newChannel,
  recipient,
  startEvmWorld,
  untilAll,
  untilOne,
} from '../evm-world.ts'

const stack = new AsyncDisposableStack()
let world: Awaited<ReturnType<typeof startEvmWorld>>

beforeAll(async () => {
  world = await startEvmWorld(stack)
})

afterEach(() =>
  world.service.faults.set({
    shortForwardRate: 0,
    doubleForwardRate: 0,
    misdirectForwardRate: 0,
    lateForwardRate: 0,
    splitForwardRate: 0,
    joinForwardRate: 0,
  }),
)

afterAll(() => stack.disposeAsync())

test('a short forward pays less than it states', async () => {
  world.service.faults.set({ shortForwardRate: 1 })
  const settled = await forwarded('short', 10_000_000n)
  expect(settled.destination.amount).toBe('9970000')
  expect((await forwardsOf(world, settled)).map(({ value }) => value)).toEqual([8_973_000n])
})

test('a double forward pays the recipient twice and states one of the two', async () => {
  world.service.faults.set({ doubleForwardRate: 1 })
  const settled = await forwarded('double', 12_000_000n)
  const payments = await minedUntil(world, 'both payments', async () => {
    const found = (await world.paidBy(liquidity)).filter(({ value }) => value === 11_964_000n)
    return found.length < 2 ? null : found
  })
  expect(payments.map(({ to }) => to)).toEqual([recipient, recipient])
  expect(payments.filter(({ transaction }) => transaction === settled.destination.transaction)).toHaveLength(
    1,
  )
})

test('a forward in parts names one transaction after the other, and pays what it states', async () => {
  world.service.faults.set({ splitForwardRate: 1 })
  const settled = await forwarded('parts', 15_000_001n)
  const reported = await world.db
    .selectFrom('service.event')
    .select('body')
    .where('deposit_id', '=', settled.id)
    .where('type', '=', 'deposit.forwarded')
    .orderBy('revision')
    .execute()
  const records = reported.map(({ body }) => (JSON.parse(body) as { data: DepositRecord }).data)
  const parts = await Promise.all(records.map((record) => forwardsOf(world, record)))
  expect(parts.map((part) => part.map(({ value }) => value))).toEqual([[7_477_500n], [7_477_501n]])
  expect(records.map(({ destination }) => destination.amount)).toEqual(['14955001', '14955001'])
  expect(records[1]?.destination.transaction).toBe(settled.destination.transaction)
})

test('a joined forward pays two deposits at once, which name the same transaction', async () => {
  world.service.faults.set({ joinForwardRate: 1 })
  const address = await newChannel(world, world.url, { id: 'joined' })
  await world.token.send(address, 16_000_000n)
  await untilStatus('joined', 'converting')
  await world.token.send(address, 17_000_000n)
  const settled = await untilAll(world, world.url, { owner: 'joined', status: 'settled', count: 2 })
  const [one, other] = settled
  if (one === undefined || other === undefined) throw new Error('two are settled')
  expect(other.destination).toMatchObject({ ...one.destination, amount: '15952000' })
  expect((await forwardsOf(world, one)).map(({ to, value }) => [to, value])).toEqual([
    [recipient, 32_901_000n],
  ])
})

test('one that is to be joined and finds no other is forwarded alone after the delay', async () => {
  world.service.faults.set({ joinForwardRate: 1, delayMs: 500 })
  const settled = await forwarded('lonely', 18_000_000n)
  expect((await forwardsOf(world, settled)).map(({ value }) => value)).toEqual([17_946_000n])
})

test('a misdirected forward pays and states an address that is nobody’s', async () => {
  world.service.faults.set({ misdirectForwardRate: 1 })
  const settled = await forwarded('astray', 13_000_000n)
  expect(settled.destination.address).not.toBe(recipient)
  expect((await forwardsOf(world, settled)).map(({ to, value }) => [to, value])).toEqual([
    [settled.destination.address, 12_961_000n],
  ])
})

test('a late forward is signed only after the delay', async () => {
  world.service.faults.set({ lateForwardRate: 1, delayMs: 1500 })
  const address = await newChannel(world, world.url, { id: 'late' })
  await world.token.send(address, 14_000_000n)
  const settled = await untilStatus('late', 'settled')
  const stored = world.db
    .selectFrom('service.signing')
    .select('created_at')
    .where('transaction', '=', settled.destination.transaction)
  const { created_at: signedAt } = await stored.executeTakeFirstOrThrow()
  const reported = world.db
    .selectFrom('service.event')
    .select('body')
    .where('deposit_id', '=', settled.id)
    .where('type', '=', 'deposit.converting')
  const { data } = JSON.parse((await reported.executeTakeFirstOrThrow()).body) as { data: DepositRecord }
  expect(signedAt.getTime() - Date.parse(data.updated_at)).toBeGreaterThanOrEqual(1500)
})

async function forwarded(id: string, amount: bigint) {
  await world.token.send(await newChannel(world, world.url, { id }), amount)
  return untilStatus(id, 'settled')
}

function untilStatus(owner: string, status: DepositRecord['status']): Promise<DepositRecord> {
  return untilOne(world, world.url, { owner, status })
}
