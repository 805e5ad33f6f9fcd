import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { runCommand } from '../support/command.ts'
import { type DaemonOnAnvil, startDaemonOnAnvil, untilRead } from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { depositor } from '../support/reported-networks.ts'
import { type RpcProxy, type Script, startRpcProxy } from '../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'
import { until } from '../support/until.ts'

type Chain = { name: string; anvil: Anvil; token: TestToken; proxy: RpcProxy }

const stack = new AsyncDisposableStack()
let base: Chain
let arbitrum: Chain
let world: DaemonOnAnvil

/** The daemon comes when the chains are 30 blocks long, and remembers nothing of before. */
beforeAll(async () => {
  base = await startChain('base', 8453)
  arbitrum = await startChain('arbitrum', 42_161)
  const reported = [base, arbitrum].map(({ name, anvil, token, proxy }) => {
    return { name, chainId: anvil.chainId, urls: [proxy.url], token: token.address }
  })
  world = await startDaemonOnAnvil(reported, stack)
  for (const { name } of reported) await untilRead(world, name, 0n)
})
afterAll(() => stack.disposeAsync())

async function startChain(name: string, chainId: number): Promise<Chain> {
  const anvil = await startAnvil(chainId)
  stack.defer(() => anvil.stop())
  const token = await deployToken(anvil, 'USDC')
  await anvil.mine(30 - Number(await anvil.client.getBlockNumber()))
  const proxy = await startRpcProxy(anvil.url)
  stack.defer(() => proxy.stop())
  return { name, anvil, token, proxy }
}

/** Answers as another node does. */
const answersAs =
  ({ client }: Anvil): Script =>
  async ({ method, params }) => ({ result: await client.request({ method, params } as never) })

async function pay({ anvil, token }: Chain, amount: bigint): Promise<Hex> {
  const tx = await token.send(depositor, amount)
  await anvil.mine()
  return tx
}

const rawOf = (hash: Hex): Promise<Hex> =>
  base.anvil.client.request({ method: 'eth_getRawTransactionByHash', params: [hash] } as never)

async function makeFinal({ name, anvil }: Chain): Promise<void> {
  await anvil.mine(3)
  await untilRead(world, name, (await anvil.client.getBlockNumber()) - 2n)
}

const stateOf = async (tx: Hex): Promise<string[]> => {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', state, (
      select string_agg(kind, ' ' order by id) from ledger_journal where transfer = deposit.transfer
    )) as line from deposit where tx = ${tx} and merged_into is null`.execute(world.db)
  return rows.map(({ line }) => line)
}

async function lost(): Promise<{ detail: { problem: string; fix: string } }[]> {
  const { rows } = await sql<{ detail: { problem: string; fix: string } }>`
    select detail from mismatch where kind = 'history_lost' and cleared_at is null`.execute(world.db)
  return rows
}

const shown = async (path: string): Promise<string> => (await fetch(`${world.daemon.opsUrl}${path}`)).text()

async function hold(): Promise<void> {
  const watched = [base, arbitrum].map(({ name, anvil, token }) => {
    return { network: name, rpcUrl: anvil.url, address: depositor, token: token.address }
  })
  await holdInvariants(world, ...watched)
}

const isHalted = 'depositd_mismatches_open{kind="history_lost",severity="severe",service="",network="base"} 1'

test('a node of another history halts the network, and once it is gone reading goes on by itself', async () => {
  const before = await pay(base, 1n)
  await makeFinal(base)
  await expect.poll(() => stateOf(before)).toEqual(['confirmed deposit'])
  const cursor = await world.cursor('base')
  const foreign = await startAnvil(base.anvil.chainId)
  stack.defer(() => foreign.stop())
  await foreign.mine(60)
  base.proxy.behave(answersAs(foreign))
  await until('the halt is told of', async () => ((await lost()).length === 1 ? true : null))
  const meanwhile = await pay(base, 2n)
  expect(await world.cursor('base')).toEqual(cursor)
  expect(await stateOf(before)).toEqual(['confirmed deposit'])
  base.proxy.behave()
  await makeFinal(base)
  await expect.poll(() => stateOf(meanwhile)).toEqual(['confirmed deposit'])
  await expect.poll(lost).toEqual([])
  await hold()
})

test('history that is lost halts that network alone, until a person says from where to read on', async () => {
  const client = base.anvil.client
  const start = await client.getBlockNumber()
  const [kept, gone] = [await pay(base, 5n), await pay(base, 6n)]
  await makeFinal(base)
  await makeFinal(arbitrum)
  await expect.poll(() => stateOf(gone)).toEqual(['confirmed deposit'])
  await expect.poll(() => stateOf(kept)).toEqual(['confirmed deposit'])
  const before = await world.cursor('base')

  // The new history has all but the last of the payments, lower than anything the daemon ever read.
  const raws: unknown[] = []
  for (let height = 21n; height <= start + 1n; height++) {
    const { transactions } = await client.getBlock({ blockNumber: height })
    for (const hash of transactions) raws.push(await rawOf(hash))
  }
  const depth = Number((await client.getBlockNumber()) - 20n)
  const placed = raws.map((raw) => [raw, 2])
  await client.request({ method: 'anvil_reorg' as never, params: [depth, placed] as never })
  await until('the halt is told of', async () => ((await lost()).length === 1 ? true : null))
  await base.anvil.mine(10)
  const elsewhere = await pay(arbitrum, 7n)
  await makeFinal(arbitrum)
  await expect.poll(() => stateOf(elsewhere)).toEqual(['confirmed deposit'])
  expect(await world.cursor('base')).toEqual(before)
  expect(await stateOf(gone)).toEqual(['confirmed deposit'])
  expect(await stateOf(kept)).toEqual(['confirmed deposit'])
  await expect.poll(() => shown('/metrics')).toContain(isHalted)
  // Five minutes later.
  await sql`update stream set succeeded_at = succeeded_at - interval '5 minutes' where name = 'scan/base'`.execute(
    world.db,
  )
  await expect.poll(() => shown('/readyz')).toContain('scan/base')

  const [{ detail } = { detail: { problem: '', fix: '' } }] = await lost()
  const command = /depositd (backfill --network base --from )HEIGHT/.exec(detail.fix)?.[1]
  const ran = await runCommand(`${command}21`, world.environment)
  expect(ran).toMatchObject({ status: 0 })
  expect(ran.out).toMatch(/^base from 21 to \d+: resumed; new chain transfers: \d+\n/)
  const late = await pay(base, 8n)
  await makeFinal(base)
  await expect.poll(() => stateOf(late)).toEqual(['confirmed deposit'])
  expect(await stateOf(gone)).toEqual(['orphaned deposit reversal'])
  expect(await stateOf(kept)).toEqual(['confirmed deposit'])
  await expect.poll(lost).toEqual([])
  expect((await fetch(`${world.daemon.opsUrl}/readyz`)).status).toBe(200)
  await hold()
})
