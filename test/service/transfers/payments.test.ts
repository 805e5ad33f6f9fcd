import { sql } from 'kysely'
import { type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import {
  forwardsOf,
  liquidity,
  lower,
  minedUntil,
  newChannel,
  startEvmWorld,
  untilOne,
  untilRest,
} from '../evm-world.ts'

const stack = new AsyncDisposableStack()
let world: Awaited<ReturnType<typeof startEvmWorld>>

beforeAll(async () => {
  world = await startEvmWorld(stack)
})

afterAll(() => stack.disposeAsync())

test('deposits are swept once and exactly: tokens with gas that they are given, coins less their fee', async () => {
  const address = await newChannel(world, world.url, { id: 'swept' })
  for (const amount of [3_000n, 4_000n]) await world.token.send(address, amount)
  const sweeps = await minedUntil(world, 'a sweep of tokens', async () => {
    const all = await world.paidBy(address)
    const total = all.reduce((sum, { value }) => sum + value, 0n)
    return total === 7_000n ? all : null
  })
  expect(sweeps.every(({ to }) => to === liquidity)).toBe(true)
  expect((await world.balance(address)).tokens).toBe(0n)
  await pay(address, parseEther('0.01'))
  await minedUntil(world, 'a sweep of coins', async () =>
    (await world.balance(address)).coins < parseEther('0.001') ? true : null,
  )
  const deposits = world.db
    .selectFrom('service.deposit')
    .select(['sweep_id', 'status'])
    .where('owner_id', '=', 'swept')
  await minedUntil(world, 'all at rest', async () => {
    const rows = await deposits.execute()
    return rows.length === 3 && rows.every(({ sweep_id }) => sweep_id !== null) ? true : null
  })
  await untilRest(world)
  const { rows } = await sql<{ asset: string; swept: string; recorded: string }>`
    select transfer.asset, transfer.amount as swept, sum(deposit.amount) as recorded
    from service.transfer join service.deposit on sweep_id = transfer.id
    where owner_id = 'swept' and outcome = 'landed' group by transfer.id`.execute(world.db)
  const tokens = rows.filter(({ asset }) => asset !== 'native')
  expect(tokens.map(({ swept }) => swept)).toEqual(tokens.map(({ recorded }) => recorded))
  const [coins] = rows.filter(({ asset }) => asset === 'native')
  expect(BigInt(coins?.swept ?? 0)).toBeGreaterThan(parseEther('0.0099'))
  expect(BigInt(coins?.swept ?? 0)).toBeLessThan(parseEther('0.01'))
})

test('the coins at an address pay for the sweep of its tokens, and are swept less that', async () => {
  const address = await newChannel(world, world.url, { id: 'both' })
  await world.token.send(address, 15_000_000n)
  await pay(address, parseEther('0.02'))
  await minedUntil(world, 'both swept', async () => {
    const { coins, tokens } = await world.balance(address)
    return tokens === 0n && coins < parseEther('0.001') ? true : null
  })
  await untilRest(world)
  const transfers = world.db.selectFrom('service.transfer').select(['kind', 'to_address', 'amount'])
  const gas = await transfers.where('kind', '=', 'top_up').where('to_address', '=', lower(address)).execute()
  expect(gas).toEqual([])
  const { rows } = await sql<{ swept: string; recorded: string }>`
    select transfer.amount as swept, sum(deposit.amount) as recorded
    from service.transfer join service.deposit on sweep_id = transfer.id
    where owner_id = 'both' and transfer.asset = 'native' group by transfer.id`.execute(world.db)
  expect(rows).toHaveLength(1)
  expect(BigInt(rows[0]?.swept ?? 0)).toBeLessThan(BigInt(rows[0]?.recorded ?? 0))
})

test('what is below the minimum stays where it is', async () => {
  const address = await newChannel(world, world.url, { id: 'small', asset: 'ETH' })
  await pay(address, parseEther('0.0009'))
  await untilStatus('small', 'settled')
  await world.anvil.mine(5)
  expect((await world.balance(address)).coins).toBe(parseEther('0.0009'))
})

test('what the liquidity wallet cannot pay waits for what is swept, and keeps no other waiting', async () => {
  const dear = await newChannel(world, world.url, { id: 'coins', asset: 'ETH' })
  const other = await newChannel(world, world.url, { id: 'tokens' })
  const { coins } = await world.balance(liquidity)
  await pay(dear, coins + parseEther('1'))
  await untilStatus('coins', 'converting')
  await world.token.send(other, 11_000_000n)
  await untilStatus('tokens', 'settled')
  expect((await untilStatus('coins', 'settled')).destination.amount).toBe(
    (((coins + parseEther('1')) * 9_970n) / 10_000n + 1n).toString(),
  )
})

test('one that is to be joined and finds no other is forwarded alone after the delay', async () => {
  world.service.faults.set({ joinForwardRate: 1, delayMs: 500 })
  await world.token.send(await newChannel(world, world.url, { id: 'lonely' }), 18_000_000n)
  const settled = await untilStatus('lonely', 'settled')
  world.service.faults.set({ joinForwardRate: 0 })
  expect((await forwardsOf(world, settled)).map(({ value }) => value)).toEqual([17_946_000n])
})

function pay(to: Hex, value: bigint): Promise<Hex> {
  return world.anvil.client.sendTransaction({ to, value })
}

function untilStatus(owner: string, status: DepositRecord['status']): Promise<DepositRecord> {
  return untilOne(world, world.url, { owner, status })
}
