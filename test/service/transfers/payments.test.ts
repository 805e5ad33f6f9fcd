import { sql } from 'kysely'
import { type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NetworkName } from '../../../src/core/asset.ts'
import { refundDeposit, releaseDeposit } from '../../../src/service/deposits/deposit-actions.ts'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { createWithdrawal, getWithdrawal, walletBalance } from '../../../src/service/transfers/withdrawals.ts'
import { rich } from '../../support/anvil.ts'
import {
  forwardsOf,
  liquidity,
  lower,
  minedUntil,
  newChannel,
  recipient,
  startEvmWorld,
  untilOne,
  untilRest,
} from '../evm-world.ts'
import { call, writeKey } from '../fixtures.ts'

const stack = new AsyncDisposableStack()
let world: Awaited<ReturnType<typeof startEvmWorld>>

beforeAll(async () => {
  world = await startEvmWorld(stack)
})

afterAll(() => stack.disposeAsync())

test('a policy refunds a payment of tokens to its sender, whole, by a real transfer', async () => {
  const policy = { assets: { deny: [{ network: 'base', asset: 'USDC' }] }, otherwise: 'refund' } as const
  const address = await newChannel(world, world.url, { id: 'denied', policy })
  await world.token.send(address, 1_000_000n)
  const { reason, refund, destination } = await untilStatus('denied', 'refunded')
  expect(reason).toBe('asset_denied')
  expect(refund).toMatchObject({ address: rich.address, amount: '1000000', time: expect.any(String) })
  expect(destination.transaction).toBeNull()
  const payments = (await world.paidBy(liquidity)).filter(({ to }) => to === rich.address)
  expect(payments).toEqual([
    { transaction: refund?.transaction, from: liquidity, to: rich.address, value: 1_000_000n },
  ])
})

test('a held payment of the coin goes back where its owner wants it', async () => {
  const to = '0x00000000000000000000000000000000000000bb' as const
  const address = await newChannel(world, world.url, { id: 'held', policy: { hold: true } })
  await pay(address, parseEther('0.01'))
  const { id } = await untilStatus('held', 'held')
  expect((await refundDeposit(world, { id, to: lower(to) })).kind).toBe('refunding')
  await untilStatus('held', 'refunded')
  expect((await world.balance(to)).coins).toBe(parseEther('0.01'))
})

test('a released deposit is forwarded though the policy still holds', async () => {
  const address = await newChannel(world, world.url, { id: 'released', policy: { hold: true } })
  await world.token.send(address, 2_000_000n)
  const { id } = await untilStatus('released', 'held')
  expect((await releaseDeposit(world, id)).kind).toBe('released')
  const settled = await untilStatus('released', 'settled')
  expect(await forwardsOf(world, settled)).toEqual([
    { transaction: settled.destination.transaction, from: liquidity, to: recipient, value: 1_994_000n },
  ])
})

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

test('a wallet pays a withdrawal out in the units of the network', async () => {
  const { body } = await call(`${world.url}/v1/stable-wallets`, writeKey, { id: 'savings' })
  const wallet = body as { stable_wallet: { deposit_addresses: [{ address: Hex }] } }
  await world.token.send(wallet.stable_wallet.deposit_addresses[0].address, 5n * 10n ** 18n)
  await untilStatus('savings', 'credited')
  expect(await walletBalance(world.db, 'savings')).toBe(4_985_000n)
  const to = '0x00000000000000000000000000000000000000dd' as const
  const request = {
    wallet: 'savings',
    id: 'first',
    network: 'base' as NetworkName,
    recipient: lower(to),
    amount: 1_234_567n,
  }
  const { networks } = world.settings()
  expect((await createWithdrawal({ db: world.db, networks }, request)).kind).toBe('created')
  const settled = await minedUntil(world, 'a withdrawal settled', async () => {
    const row = await getWithdrawal(world.db, request)
    return row?.status === 'settled' ? row : null
  })
  expect((await world.balance(to)).tokens).toBe(1_234_567n * 10n ** 12n)
  const payments = (await world.paidBy(liquidity)).filter((one) => lower(one.to) === lower(to))
  expect(payments.map(({ transaction }) => transaction)).toEqual([settled.transaction])
  expect(await walletBalance(world.db, 'savings')).toBe(4_985_000n - 1_234_567n)
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

function pay(to: Hex, value: bigint): Promise<Hex> {
  return world.anvil.client.sendTransaction({ to, value })
}

function untilStatus(owner: string, status: DepositRecord['status']): Promise<DepositRecord> {
  return untilOne(world, world.url, { owner, status })
}
