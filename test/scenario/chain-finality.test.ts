import { sql } from 'kysely'
import { type Hex, toHex } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type DaemonOnAnvil, startDaemonOnAnvil, untilRead } from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { depositor } from '../support/reported-networks.ts'
import { type Answer, type RpcProxy, type Script, startRpcProxy } from '../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'
import { until } from '../support/until.ts'

const stack = new AsyncDisposableStack()
let anvil: Anvil
let token: TestToken
/** The node that is preferred, and one to fall back to. */
let first: RpcProxy
let second: RpcProxy
let world: DaemonOnAnvil
let amount = 0n

/** The nodes know no tag at first. */
beforeAll(async () => {
  anvil = await startAnvil()
  stack.defer(() => anvil.stop())
  token = await deployToken(anvil, 'USDC')
  await anvil.mine(3)
  ;[first, second] = [await startRpcProxy(anvil.url), await startRpcProxy(anvil.url)]
  stack.defer(() => Promise.all([first.stop(), second.stop()]).then(() => undefined))
  bothSay(noTag)
  const urls = [first.url, second.url]
  const reported = {
    name: 'base',
    chainId: anvil.chainId,
    urls,
    token: token.address,
    more: { startHeight: 0 },
  }
  world = await startDaemonOnAnvil([reported], stack)
})
afterAll(() => stack.disposeAsync())
afterEach(() => bothSay(undefined))

const noTag: Answer = { error: { code: -32_602, message: 'unknown block tag finalized' } }

/** What a node answers where it is asked for what is final. */
const says =
  (answer: Answer): Script =>
  ({ method, params }, forward) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? answer : forward()

function bothSay(answer: Answer | undefined): void {
  for (const node of [first, second]) node.behave(answer && says(answer))
}

/** The answer of a node that calls nothing final above that height. */
async function finalAt(height: bigint): Promise<Answer> {
  const params = [toHex(height), false]
  return { result: await anvil.client.request({ method: 'eth_getBlockByNumber', params } as never) }
}

async function finalHead(): Promise<bigint> {
  return (await anvil.client.getBlock({ blockTag: 'finalized' })).number
}

async function pay(): Promise<Hex> {
  amount += 1n
  const tx = await token.send(depositor, amount)
  await anvil.mine()
  return tx
}

async function makeFinal(): Promise<void> {
  await anvil.mine(3)
  await untilRead(world, 'base', await finalHead())
}

async function credit(tx: Hex): Promise<void> {
  const { logs } = await anvil.client.getTransactionReceipt({ hash: tx })
  const index = String(logs[0]?.logIndex)
  world.credited.push({ network: 'base', tx, index, contract: token.address, amount })
}

/** The state of the deposit that a transaction made, with whatever was ever booked of it. */
async function stateOf(tx: Hex): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', state, (
      select string_agg(kind, ' ' order by id) from ledger_journal where transfer = deposit.transfer
    )) as line from deposit where tx = ${tx} and merged_into is null`.execute(world.db)
  return rows.map(({ line }) => line)
}

/** How many of these transactions a chain has shown. */
async function sighted(...txs: Hex[]): Promise<number> {
  const { rows } = await sql`select from deposit where tx = any(${txs}) and chain_at is not null`.execute(
    world.db,
  )
  return rows.length
}

async function untilIs(tx: Hex, state: string): Promise<void> {
  await expect.poll(() => stateOf(tx), { message: tx }).toEqual([state])
}

/** Waits until the daemon has scanned several times more, whatever came of it. */
async function scannedAgain(): Promise<void> {
  for (const node of [first, second]) node.calls.length = 0
  await until('some scans', () => (timesAsked() >= 3 ? true : null))
}

const timesAsked = (): number =>
  [...first.calls, ...second.calls].filter(({ params }) => params[0] === 'finalized').length

async function hold(): Promise<void> {
  await makeFinal()
  const watched = { network: 'base', rpcUrl: anvil.url, address: depositor, token: token.address }
  await holdInvariants(world, watched)
}

test('nodes that do not know the tag: nothing is read, the setting is named, and reading begins once one does', async () => {
  const tx = await pay()
  await anvil.mine(5)
  await until('the fault is told of', () =>
    world.logged.some((line) => line.includes('job failed')) ? true : null,
  )
  const line = world.logged.find((one) => one.includes('job failed')) ?? ''
  expect(line).toContain(
    'the node does not support the block tag finalized (setting networks: base: finality)',
  )
  await scannedAgain()
  expect(await world.cursor('base')).toBeNull()
  expect(await stateOf(tx)).toEqual([])
  bothSay(undefined)
  await untilIs(tx, 'confirmed deposit')
  await hold()
})

test('finality that stalls is waited for: what is paid meanwhile is seen, and booked once it moves on', async () => {
  await makeFinal()
  const stalledAt = await finalHead()
  bothSay(await finalAt(stalledAt))
  const heard = world.logged.length
  const reported = await pay()
  await credit(reported)
  await anvil.mine(70)
  const [dropped, head] = [await pay(), await anvil.client.getBlockNumber()]
  await untilIs(reported, 'observed')
  await untilIs(dropped, 'observed')
  await expect
    .poll(async () => (await fetch(`${world.daemon.opsUrl}/metrics`)).text())
    .toContain(`depositd_chain_scanned_block{network="base"} ${head}`)
  // The service has told of it, and the transaction was read because of that.
  await until('it is told of', async () => {
    const { rows } = await sql`select from deposit where tx = ${reported} and api_at is not null`.execute(
      world.db,
    )
    return rows[0] ?? null
  })
  await anvil.reorg(1)
  await scannedAgain()
  expect(await stateOf(reported)).toEqual(['observed'])
  expect((await world.cursor('base'))?.height).toBe(stalledAt)
  expect((await fetch(`${world.daemon.opsUrl}/readyz`)).status).toBe(200)
  expect(world.logged.slice(heard)).toEqual([])
  bothSay(undefined)
  await untilIs(reported, 'reconciled deposit settlement conversion')
  await makeFinal()
  await untilIs(dropped, 'orphaned')
  await hold()
})

test('what the service names is read at once where scans cannot come to it, and booked no sooner than it is final', async () => {
  await makeFinal()
  const stalled = says(await finalAt(await finalHead()))
  const blind: Script = (call, forward) =>
    call.method === 'eth_getLogs' ? { error: { code: -32_000, message: 'no index' } } : stalled(call, forward)
  for (const node of [first, second]) node.behave(blind)
  const kept = await pay()
  await credit(kept)
  const dropped = await pay()
  await credit(dropped)
  await expect.poll(() => sighted(kept, dropped)).toBe(2)
  await anvil.reorg(1)
  await anvil.mine(5)
  await scannedAgain()
  expect(await stateOf(kept)).toEqual(['observed'])
  bothSay(undefined)
  await untilIs(kept, 'reconciled deposit settlement conversion')
  await untilIs(dropped, 'orphaned')
  await hold()
})

test('finality that moves back, and the history that was final changes: what is gone is reversed', async () => {
  await makeFinal()
  const fork = await anvil.client.getBlockNumber()
  const tx = await pay()
  await makeFinal()
  await untilIs(tx, 'confirmed deposit')
  bothSay(await finalAt(fork - 2n))
  await anvil.reorg(Number((await anvil.client.getBlockNumber()) - fork))
  await anvil.mine(2)
  await untilIs(tx, 'orphaned deposit reversal')
  bothSay(undefined)
  await hold()
})
