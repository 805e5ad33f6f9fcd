import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type DaemonOnAnvil, startDaemonOnAnvil, untilRead } from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { depositor } from '../support/reported-networks.ts'
import { contradicted } from '../support/rpc-lies.ts'
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

/** What nodes can say of a receipt is in test/chain/quorum.test.ts, and here with `ALL=1`. */
const lies = contradicted.filter(
  ({ name }) => process.env.ALL !== undefined || /^(hides|invents) a payment/.test(name),
)

const stack = new AsyncDisposableStack()
let anvil: Anvil
let token: TestToken
/** The preferred node of both networks: of `pair` beside one other, of `trio` beside two. */
let liar: RpcProxy
let world: DaemonOnAnvil
let amount = 0n

beforeAll(async () => {
  anvil = await startAnvil()
  stack.defer(() => anvil.stop())
  token = await deployToken(anvil, 'USDC')
  await anvil.mine(3)
  liar = await startRpcProxy(anvil.url)
  stack.defer(() => liar.stop())
  const third = await startRpcProxy(anvil.url)
  stack.defer(() => third.stop())
  const reported = { chainId: anvil.chainId, token: token.address, more: { startHeight: 0, quorum: 2 } }
  world = await startDaemonOnAnvil(
    [
      { ...reported, name: 'pair', urls: [liar.url, anvil.url] },
      { ...reported, name: 'trio', urls: [liar.url, anvil.url, third.url] },
    ],
    stack,
  )
})
afterAll(() => stack.disposeAsync())

async function finalHeight(): Promise<bigint> {
  return (await anvil.client.getBlockNumber()) - 2n
}

async function makeFinal(): Promise<void> {
  await anvil.mine(3)
  const height = await finalHeight()
  await untilRead(world, 'pair', height)
  await untilRead(world, 'trio', height)
}

/** Tokens, coin, and coin that its receiver refuses. Their hashes. */
async function pay(): Promise<Hex[]> {
  amount += 1n
  const payment = { to: depositor, value: amount, gas: 100_000n } as const
  await anvil.client.setCode({ address: depositor, bytecode: '0xfe' })
  const failed = await anvil.client.sendTransaction(payment)
  await anvil.mine()
  await anvil.client.setCode({ address: depositor, bytecode: '0x' })
  const paid = [await token.send(depositor, amount), await anvil.client.sendTransaction(payment)]
  await anvil.mine()
  return [failed, ...paid]
}

/** What is booked of transactions on a network. */
async function booked(network: string, txs: readonly Hex[]): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`
    select kind from ledger_journal
    where split_part(transfer, '/', 1) = ${network} and split_part(transfer, '/', 2) = any(${txs})
    order by id`.execute(world.db)
  return rows.map(({ kind }) => kind)
}

/** What is told of disagreement: open now, or ever. */
async function disagreements(network: string, isOpen: boolean): Promise<unknown[]> {
  const { rows } = await sql`
    select kind, detail ->> 'booked' as booked from mismatch
    where subject = ${`network/${network}`} and (cleared_at is null or ${!isOpen})`.execute(world.db)
  return rows
}

test.each(lies)(
  'a node that $name is outvoted by two, and with one more nothing is booked until they agree',
  async ({ script }) => {
    await makeFinal()
    liar.behave(script(anvil, token.address))
    const before = await finalHeight()
    const txs = await pay()
    await anvil.mine(2)
    await expect
      .poll(() => disagreements('pair', true))
      .toEqual([{ kind: 'rpc_disagreement', booked: 'nothing' }])
    await untilRead(world, 'trio', await finalHeight())
    await expect.poll(() => booked('trio', txs)).toEqual(['deposit', 'deposit'])
    expect(await disagreements('trio', false)).toContainEqual({
      kind: 'rpc_disagreement',
      booked: 'the result on which the other nodes agree',
    })
    expect((await world.cursor('pair'))?.height).toBeLessThan(before + 4n)
    expect(await booked('pair', txs)).toEqual([])

    liar.behave()
    await makeFinal()
    await expect.poll(() => booked('pair', txs)).toEqual(['deposit', 'deposit'])
    for (const network of ['pair', 'trio']) {
      await expect.poll(() => disagreements(network, true)).toEqual([])
    }
    const watched = { rpcUrl: anvil.url, address: depositor, token: token.address }
    await holdInvariants(world, { ...watched, network: 'pair' }, { ...watched, network: 'trio' })
  },
)
