import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import {
  type DaemonOnAnvil,
  startDaemonOnAnvil,
  untilRead,
  untilRefused,
} from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { depositor } from '../support/reported-networks.ts'
import { isElsewhere, seenThrough } from '../support/rpc-lies.ts'
import { lacksLogs, type RpcProxy, startRpcProxy } from '../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

const stack = new AsyncDisposableStack()
let anvil: Anvil
/** A longer chain, with another id. */
let elsewhere: Anvil
let token: TestToken
/** The others are in test/chain/evm/bad-node.test.ts, and here with `ALL=1`. */
const lies = seenThrough.filter(
  ({ name }) =>
    process.env.ALL !== undefined ||
    ['answers empty logs', 'lags behind what it answered for', 'is of another chain all at once'].includes(
      name,
    ),
)

/** The only node of `base`; `spare`, which is the same chain, has another one behind it. */
let proxy: RpcProxy
/** The only node of `moved`. */
let mover: RpcProxy
let world: DaemonOnAnvil
let amount = 0n

beforeAll(async () => {
  anvil = await startAnvil()
  stack.defer(() => anvil.stop())
  elsewhere = await startAnvil(1)
  stack.defer(() => elsewhere.stop())
  await elsewhere.mine(1000)
  token = await deployToken(anvil, 'USDC')
  await anvil.mine(3)
  proxy = await startRpcProxy(anvil.url)
  stack.defer(() => proxy.stop())
  mover = await startRpcProxy(anvil.url)
  stack.defer(() => mover.stop())
  mover.behave(isElsewhere(elsewhere))
  const reported = { chainId: anvil.chainId, token: token.address, more: { startHeight: 0 } }
  world = await startDaemonOnAnvil(
    [
      { ...reported, name: 'base', urls: [proxy.url] },
      { ...reported, name: 'spare', urls: [proxy.url, anvil.url] },
      { ...reported, name: 'moved', urls: [mover.url] },
    ],
    stack,
  )
})
afterAll(() => stack.disposeAsync())
beforeEach(() => makeFinal())

/** Mines until everything that was sent is final; the honest node is read up to there. */
async function makeFinal(blocks = 3) {
  proxy.behave()
  await anvil.mine(blocks)
  return untilRead(world, 'base', (await anvil.client.getBlockNumber()) - 2n)
}

/** One payment in tokens and one in coin, in the next block. Their hashes. */
async function pay(): Promise<Hex[]> {
  amount += 1n
  return [
    await token.send(depositor, amount),
    await anvil.client.sendTransaction({ to: depositor, value: amount }),
  ]
}

/** What is booked of transactions on a network. */
async function booked(network: string, txs: readonly Hex[]): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`
    select kind from ledger_journal
    where split_part(transfer, '/', 1) = ${network} and split_part(transfer, '/', 2) = any(${txs})
    order by id`.execute(world.db)
  return rows.map(({ kind }) => kind)
}

/** Which mismatches of networks were ever opened. */
async function troubles(): Promise<unknown[]> {
  return (await sql`select kind, detail from mismatch where subject like 'network/%'`.execute(world.db)).rows
}

/** By then every network has a node that is well. */
async function expectWhole(): Promise<void> {
  mover.behave()
  const watched = { rpcUrl: anvil.url, address: depositor, token: token.address }
  const networks = ['base', 'spare', 'moved'].map((network) => ({ ...watched, network }))
  const head = await anvil.client.getBlockNumber()
  for (const { network } of networks) await untilRead(world, network, head - 2n)
  await holdInvariants(world, ...networks)
}

test('a node of another chain is not read, and is once it is of the right one', async () => {
  const refused = () =>
    world.logged.some((line) => line.includes('RPC_MOVED: expected chain id 8453, found 1'))
  await expect.poll(refused).toBe(true)
  expect(await world.cursor('moved')).toBeNull()
  await expectWhole()
})

test.each(lies)(
  'a node that $name moves nothing, and is read on when it is well again',
  async ({ script, refusal }) => {
    const before = await makeFinal()
    proxy.behave(script(before.height, elsewhere))
    const txs = await pay()
    await anvil.mine(4)
    await untilRefused(world, refusal)
    const height = (await anvil.client.getBlockNumber()) - 3n
    expect((await world.cursor('base'))?.height).toBeLessThan(height)
    expect(await booked('base', txs)).toEqual([])
    await untilRead(world, 'spare', height)
    await makeFinal()
    for (const network of ['base', 'spare']) {
      await expect.poll(() => booked(network, txs)).toEqual(['deposit', 'deposit'])
    }
    expect(await troubles()).toEqual([])
    await expectWhole()
  },
)

test('logs that a node did not have yet, nor their filter, are found when it is read again', async () => {
  await makeFinal()
  proxy.behave(lacksLogs)
  const [tokens = '0x', coin = '0x'] = await pay()
  await anvil.mine(4)
  await untilRead(world, 'base', (await anvil.client.getBlockNumber()) - 2n)
  await expect.poll(() => booked('base', [coin])).toEqual(['deposit'])
  expect(await booked('base', [tokens])).toEqual([])
  await makeFinal(70)
  await expect.poll(() => booked('base', [tokens])).toEqual(['deposit'])
  await expectWhole()
})
