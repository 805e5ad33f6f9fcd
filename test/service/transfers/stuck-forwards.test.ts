import { sql } from 'kysely'
import { type Hex, parseAbiItem, parseGwei } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { NetworkName } from '../../../src/core/asset.ts'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { createWithdrawal, getWithdrawal, walletBalance } from '../../../src/service/transfers/withdrawals.ts'
import { honest, type Script } from '../../support/rpc-proxy.ts'
import { until } from '../../support/until.ts'
import {
  forwardsOf,
  liquidity,
  listDeposits,
  lower,
  minedUntil,
  newChannel,
  recipient,
  startEvmWorld,
  untilOne,
  untilSwept,
} from '../evm-world.ts'
import { call, writeKey } from '../fixtures.ts'

const stack = new AsyncDisposableStack()
let world: Awaited<ReturnType<typeof startEvmWorld>>

beforeAll(async () => {
  world = await startEvmWorld(stack)
})

afterEach(() => world.proxy.behave(honest))

afterAll(() => stack.disposeAsync())

const refuseSending: Script = ({ method }, forward) =>
  method === 'eth_sendRawTransaction' ? { error: { code: -32603, message: 'busy' } } : forward()

/** A forward that is signed and that the node has not taken; its transaction. */
async function unsentForward(id: string, amount: bigint): Promise<string> {
  // A lower nonce would be in its way.
  await untilSwept(world)
  await minedAt('1', () => Promise.resolve(true))
  const address = await newChannel(world, world.url, { id })
  world.proxy.behave(refuseSending)
  await world.token.send(address, amount)
  const { destination } = await untilStatus(id, 'forwarding')
  return destination.transaction ?? ''
}

/** The same, and it was sent to a node whose blocks ask for more than it offers. */
async function stuckForward(id: string, amount: bigint): Promise<string> {
  const transaction = await unsentForward(id, amount)
  await sendStored(transaction)
  await minedAt('400', () => Promise.resolve(true))
  return transaction
}

/** Sends the bytes behind the back of the service. */
async function sendStored(transaction: string): Promise<void> {
  const stored = world.db.selectFrom('service.signing').select('bytes').where('transaction', '=', transaction)
  const { bytes } = await stored.executeTakeFirstOrThrow()
  await world.anvil.client.sendRawTransaction({ serializedTransaction: `0x${bytes.toString('hex')}` })
}

/** Mines blocks that are too dear until the record names another transaction. */
function untilReplaced(id: string, transaction: string) {
  return minedAt('400', async () => {
    const [record] = await listDeposits(world.url, `owner=${id}`)
    return record?.destination.transaction === transaction ? null : record
  })
}

test('forwards that no node has taken yet keep their nonces, and all land', async () => {
  await unsentForward('first', 20_000_000n)
  await world.token.send(await newChannel(world, world.url, { id: 'second' }), 21_000_000n)
  await untilStatus('second', 'forwarding')
  world.proxy.behave(honest)
  await untilStatus('first', 'settled')
  await untilStatus('second', 'settled')
})

test('a forward that no block takes is signed anew at a higher fee, and paid once', async () => {
  const first = await stuckForward('dear', 6_000_000n)
  world.proxy.behave(honest)
  const replaced = await untilReplaced('dear', first)
  expect(replaced?.status).toBe('forwarding')
  const settled = await untilStatus('dear', 'settled')
  expect(settled.destination.transaction).not.toBe(first)
  expect(await forwardsOf(world, settled)).toHaveLength(1)
  expect((await world.paidBy(liquidity)).filter(({ value }) => value === 5_982_000n)).toHaveLength(1)
})

test('the record follows the version that lands, though it is the older one', async () => {
  const first = await stuckForward('older', 8_000_000n)
  await untilReplaced('older', first)
  await minedAt('1', () => Promise.resolve(true))
  // The local node drops from its pool what a block is too dear for; others keep it.
  await sendStored(first)
  const settled = await untilStatus('older', 'settled')
  expect(settled.destination.transaction).toBe(first)
  expect((await world.paidBy(liquidity)).filter(({ value }) => value === 7_976_000n)).toHaveLength(1)
})

test('a forward that was reverted is followed by another, and paid once', async () => {
  const first = await unsentForward('reverted', 9_000_000n)
  await setPaused(true)
  await sendStored(first)
  await minedUntil(world, 'a revert', async () => {
    const ended = world.db.selectFrom('service.transfer').select('outcome').where('transaction', '=', first)
    return (await ended.executeTakeFirst())?.outcome === 'reverted' || null
  })
  await setPaused(false)
  world.proxy.behave(honest)
  const settled = await untilStatus('reverted', 'settled')
  expect(settled.destination.transaction).not.toBe(first)
  expect((await world.paidBy(liquidity)).filter(({ value }) => value === 8_973_000n)).toHaveLength(1)
})

test('a sweep that was reverted is tried again, with the same deposits', async () => {
  const address = await newChannel(world, world.url, { id: 'swept' })
  await untilSwept(world)
  world.proxy.behave(({ method, params: [bytes] }, forward) =>
    method === 'eth_sendRawTransaction' && paysLiquidity(bytes)
      ? { error: { code: -32603, message: 'busy' } }
      : forward(),
  )
  await world.token.send(address, 16_000_000n)
  const sweeps = world.db
    .selectFrom('service.transfer')
    .innerJoin('service.signing', 'transfer_id', 'id')
    .select(['outcome', 'service.signing.transaction'])
    .where('kind', '=', 'sweep')
    .where('service.transfer.amount', '=', '16000000')
    .orderBy('id')
  const [first] = await minedUntil(world, 'a sweep', async () => {
    const all = await sweeps.execute()
    return all.length > 0 ? all : null
  })
  await setPaused(true)
  await sendStored(first?.transaction ?? '')
  await minedUntil(world, 'a revert', async () => (await sweeps.execute())[0]?.outcome === 'reverted' || null)
  await setPaused(false)
  world.proxy.behave(honest)
  await untilSwept(world)
  expect((await world.paidBy(address)).map(({ value }) => value)).toEqual([16_000_000n])
})

/** A transfer of the token to the liquidity wallet has its address among the bytes. */
function paysLiquidity(bytes: unknown): boolean {
  return String(bytes).includes(liquidity.slice(2).toLowerCase())
}

test('a withdrawal that is reverted again and again has failed, and its part of the balance is back', async () => {
  const { body } = await call(`${world.url}/v1/stable-wallets`, writeKey, { id: 'savings' })
  const wallet = body as { stable_wallet: { deposit_addresses: [{ address: Hex }] } }
  await world.token.send(wallet.stable_wallet.deposit_addresses[0].address, 10n ** 19n)
  await untilStatus('savings', 'credited')
  await untilSwept(world)
  world.proxy.behave(refuseSending)
  const before = await walletBalance(world.db, 'savings')
  const request = {
    wallet: 'savings',
    id: 'one',
    network: 'base' as NetworkName,
    recipient: lower(recipient),
    amount: 5n,
  }
  await createWithdrawal({ db: world.db, networks: world.settings().networks }, request)
  const sending = await minedUntil(world, 'a signed withdrawal', async () => {
    const row = await getWithdrawal(world.db, request)
    return row?.status === 'sending' ? row : null
  })
  expect(await walletBalance(world.db, 'savings')).toBe(before - 5n)
  // As if four attempts had been reverted before.
  await sql`
    insert into service.transfer
      (kind, withdrawal, attempt, network, branch, asset, to_address, amount, outcome, transaction)
    select kind, withdrawal, attempt + number, network, branch, asset, to_address, amount, 'reverted', 'x'
    from service.transfer, generate_series(1, 4) as number where withdrawal = ${sending.sequence}`.execute(
    world.db,
  )
  await setPaused(true)
  await sendStored(sending.transaction ?? '')
  const failed = await minedUntil(world, 'a failure', async () => {
    const row = await getWithdrawal(world.db, request)
    return row?.status === 'failed' ? row : null
  })
  await setPaused(false)
  expect(failed.settled_at).toBeNull()
  expect(await walletBalance(world.db, 'savings')).toBe(before)
  const { rows } = await sql<{ type: string }>`
    select type from service.event where type like 'withdrawal.%' order by sequence`.execute(world.db)
  expect(rows.map(({ type }) => type)).toEqual(
    ['requested', 'sending', 'failed'].map((status) => `withdrawal.${status}`),
  )
})

test('a chain that lost final blocks gets its forwards again, and the next one is paid too', async () => {
  const { client } = world.anvil
  await world.token.send(await newChannel(world, world.url, { id: 'lost' }), 22_000_000n)
  const lost = await untilStatus('lost', 'settled')
  const before = await world.balance(recipient)
  const hash = lost.destination.transaction as Hex
  const { blockNumber } = await client.getTransactionReceipt({ hash })
  await world.anvil.reorg(Number((await client.getBlockNumber()) - blockNumber) + 1)
  expect((await world.balance(recipient)).tokens, 'the payment is gone').toBeLessThan(before.tokens)
  await world.token.send(await newChannel(world, world.url, { id: 'later' }), 23_000_000n)
  await untilStatus('later', 'settled')
  expect((await world.balance(recipient)).tokens).toBe(before.tokens + 22_931_000n)
  expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
})

async function setPaused(isPaused: boolean): Promise<void> {
  const abi = [parseAbiItem('function pause()'), parseAbiItem('function unpause()')]
  const functionName = isPaused ? 'pause' : 'unpause'
  await world.anvil.client.writeContract({ address: world.token.address, abi, functionName, gas: 100_000n })
  await world.anvil.mine()
}

/** Mines blocks that ask that much for each unit of gas, in gwei. */
function minedAt<Answer>(gwei: string, ask: () => Promise<Answer | null>): Promise<Answer> {
  return until(`what happens at ${gwei} gwei`, async () => {
    await world.anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(gwei) })
    await world.anvil.mine()
    return ask()
  })
}

function untilStatus(owner: string, status: DepositRecord['status']): Promise<DepositRecord> {
  return untilOne(world, world.url, { owner, status })
}
