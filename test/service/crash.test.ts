import { type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NetworkName } from '../../src/core/asset.ts'
import { refundDeposit } from '../../src/service/deposits/deposit-actions.ts'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { createWithdrawal, getWithdrawal } from '../../src/service/transfers/withdrawals.ts'
import { honest, type Script } from '../support/rpc-proxy.ts'
import { type ChildService, startChildService } from './child-service.ts'
import {
  type EvmWorld,
  liquidity,
  listDeposits,
  lower,
  minedUntil,
  newChannel,
  openEvmWorld,
  recipient,
  untilAll,
  untilRest,
} from './evm-world.ts'
import { call, writeKey } from './fixtures.ts'

const stack = new AsyncDisposableStack()
let world: EvmWorld
let running: ChildService
let made = 0

beforeAll(async () => {
  world = await openEvmWorld(stack)
  running = await startChildService(settings())
  stack.defer(() => running.kill())
})

afterAll(() => stack.disposeAsync())

function settings() {
  return world.settings({ sweep: { minimums: { 'base/USDC': '0.000000000000001' } } })
}

/** Kills it as it is, and starts it again before an honest node. */
async function killAndRestart(): Promise<void> {
  await running.kill()
  world.proxy.behave(honest)
  running = await startChildService(settings())
}

type Owner = { id: string; address: Hex }

async function channel(options: Partial<Parameters<typeof newChannel>[2]> = {}): Promise<Owner> {
  const id = `channel-${++made}`
  return { id, address: await newChannel(world, running.url, { id, ...options }) }
}

/** The deposit of that owner once it is the only one in that state. */
async function untilOne(owner: Owner, status: DepositRecord['status']): Promise<DepositRecord> {
  const [record] = await untilAll(world, running.url, { owner: owner.id, status })
  if (record === undefined) throw new Error('there is none')
  return record
}

/** The transactions by which the liquidity wallet paid this amount of the token, to whomever. */
async function paymentsOf(amount: bigint): Promise<string[]> {
  const all = await world.paidBy(liquidity)
  return all.filter(({ value }) => value === amount).map(({ transaction }) => transaction)
}

const refused = { error: { code: -32603, message: 'out of order' } }
const isSending: Script = ({ method }, forward) => (method === 'eth_sendRawTransaction' ? refused : forward())
const isDrafting: Script = ({ method }, forward) => (method === 'eth_estimateGas' ? refused : forward())
const takesWithoutAnswer: Script = async ({ method }, forward) => {
  const answer = await forward()
  return method === 'eth_sendRawTransaction' ? { status: 502 } : answer
}

/** What becomes of the bytes of a transfer at the moment of the kill. */
const moments: [string, Script][] = [
  ['after it was stored and before it was sent', isSending],
  ['after it was sent and before the answer', takesWithoutAnswer],
]

test('killed after the quote was fixed and before a forward was signed, it pays by that quote, once', async () => {
  world.proxy.behave(isDrafting)
  const owner = await channel()
  await world.token.send(owner.address, 1_000n)
  const converting = await untilOne(owner, 'converting')
  await killAndRestart()
  const settled = await untilOne(owner, 'settled')
  expect(settled.destination).toMatchObject({ amount: converting.destination.amount })
  expect(await paymentsOf(997n)).toEqual([settled.destination.transaction])
})

test.each(moments)('killed %s, a forward is paid once', async (_moment, script) => {
  world.proxy.behave(script)
  const owner = await channel()
  const amount = 1_000_000n + BigInt(made) * 1000n
  await world.token.send(owner.address, amount)
  const forwarding = await untilOne(owner, 'forwarding')
  await killAndRestart()
  const settled = await untilOne(owner, 'settled')
  expect(settled.destination.transaction, 'the bytes that were stored are the bytes that landed').toBe(
    forwarding.destination.transaction,
  )
  expect(await paymentsOf((amount * 997n) / 1000n)).toEqual([settled.destination.transaction])
})

test('killed after it was sent and before the answer, a refund is paid once', async () => {
  const owner = await channel({ policy: { hold: true } })
  const amount = 2_000_000n + BigInt(made)
  await world.token.send(owner.address, amount)
  const { id } = await untilOne(owner, 'held')
  world.proxy.behave(takesWithoutAnswer)
  await refundDeposit(world, { id, to: null })
  const signed = await minedUntil(world, 'a signed refund', async () => {
    const [record] = await listDeposits(running.url, `owner=${owner.id}`)
    return record?.refund?.transaction ?? null
  })
  await killAndRestart()
  const refunded = await untilOne(owner, 'refunded')
  expect(refunded.refund?.transaction).toBe(signed)
  expect(await paymentsOf(amount)).toEqual([signed])
})

test('killed after it was stored and before it was sent, a withdrawal is paid once', async () => {
  const wallet = `wallet-${++made}`
  const { body } = await call(`${running.url}/v1/stable-wallets`, writeKey, { id: wallet })
  const created = body as { stable_wallet: { deposit_addresses: [{ address: Hex }] } }
  await world.token.send(created.stable_wallet.deposit_addresses[0].address, 10n ** 19n)
  await untilAll(world, running.url, { owner: wallet, status: 'credited' })
  world.proxy.behave(isSending)
  const amount = 3_000_000n + BigInt(made)
  const request = { wallet, id: 'one', network: 'base' as NetworkName, recipient: lower(recipient), amount }
  await createWithdrawal({ db: world.db, networks: settings().networks }, request)
  const sending = await untilWithdrawal(request, 'sending')
  await killAndRestart()
  const settled = await untilWithdrawal(request, 'settled')
  expect(settled.transaction).toBe(sending.transaction)
  expect(await paymentsOf(amount * 10n ** 12n)).toEqual([settled.transaction])
})

function untilWithdrawal(request: { wallet: string; id: string }, status: string) {
  return minedUntil(world, `a withdrawal ${status}`, async () => {
    const row = await getWithdrawal(world.db, request)
    return row?.status === status ? row : null
  })
}

test('killed between the gas for a sweep and the sweep, it gives gas once and sweeps once', async () => {
  const owner = await channel()
  world.proxy.behave(isSending)
  await world.token.send(owner.address, 5_000_000_000n)
  const transfers = world.db
    .selectFrom('service.transfer')
    .select(['kind', 'outcome', 'amount'])
    .where((build) =>
      build.or([
        build('to_address', '=', lower(owner.address)),
        build.and([build('kind', '=', 'sweep'), build('amount', '=', '5000000000')]),
      ]),
    )
    .orderBy('id')
  await minedUntil(world, 'gas that is signed', async () =>
    (await transfers.execute()).length === 1 ? true : null,
  )
  await killAndRestart()
  const drafts: Script = ({ method, params: [first] }, forward) => {
    const { from = '' } = (first ?? {}) as { from?: string }
    return method === 'eth_estimateGas' && lower(from) === lower(owner.address) ? refused : forward()
  }
  world.proxy.behave(drafts)
  await minedUntil(world, 'gas that has landed', async () =>
    (await transfers.execute())[0]?.outcome === 'landed' ? true : null,
  )
  await killAndRestart()
  await minedUntil(world, 'a sweep', async () =>
    (await world.balance(owner.address)).tokens === 0n ? true : null,
  )
  await untilRest(world)
  expect(await transfers.execute()).toMatchObject([
    { kind: 'top_up', outcome: 'landed' },
    { kind: 'sweep', outcome: 'landed', amount: '5000000000' },
  ])
  expect(await world.paidBy(owner.address)).toHaveLength(1)
  expect((await world.balance(owner.address)).coins).toBeLessThan(parseEther('0.001'))
})

test('killed at any moment, it forgets no deposit and pays none twice', { timeout: 240_000 }, async () => {
  const owner = await channel()
  // So many blocks after the deposits, the kill meets them in each state in turn.
  const rounds = [0, 1, 2, 4]
  const amounts = rounds.flatMap((round) => [
    4_000_000n + BigInt(round) * 1000n,
    6_000_000n + BigInt(round) * 1000n,
  ])
  for (const [place, round] of rounds.entries()) {
    for (const amount of amounts.slice(place * 2, place * 2 + 2))
      await world.token.send(owner.address, amount)
    for (let block = 0; block < round; block++) {
      await world.anvil.mine()
      await listDeposits(running.url)
    }
    await killAndRestart()
  }
  const count = amounts.length
  const settled = await untilAll(world, running.url, { owner: owner.id, status: 'settled', count })
  const paid = await Promise.all(amounts.map((amount) => paymentsOf((amount * 997n) / 1000n)))
  expect(paid.map(({ length }) => length)).toEqual(amounts.map(() => 1))
  expect(new Set(paid.flat())).toEqual(new Set(settled.map(({ destination }) => destination.transaction)))
  await minedUntil(world, 'everything swept', async () =>
    (await world.balance(owner.address)).tokens === 0n ? true : null,
  )
  await untilRest(world)
  const swept = await world.paidBy(owner.address)
  expect(total(swept.map(({ value }) => value))).toBe(total(amounts))
})

function total(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

test('Postgres refuses to refund a deposit that was forwarded or still may be', async () => {
  const again = world.db
    .insertInto('service.transfer')
    .columns(['kind', 'deposit_id', 'attempt', 'network', 'branch', 'nonce', 'asset', 'to_address', 'amount'])
    .expression((build) =>
      build
        .selectFrom('service.transfer')
        .select((select) => [
          select.val('refund' as const).as('kind'),
          'deposit_id',
          'attempt',
          'network',
          'branch',
          select.val(9999n).as('nonce'),
          'asset',
          'to_address',
          'amount',
        ])
        .where('kind', '=', 'forward')
        .limit(1),
    )
  await expect(again.execute()).rejects.toThrow('transfer_once')
})
