import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Anvil, rich } from '../support/anvil.ts'
import { rawOf, replaceAbove, signTransfer, startReplayable } from '../support/anvil-history.ts'
import { type DaemonOnAnvil, startDaemonOnAnvil, untilRead } from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { depositor } from '../support/reported-networks.ts'
import type { TestToken } from '../support/test-token.ts'

const stack = new AsyncDisposableStack()
let anvil: Anvil
let token: TestToken
let world: DaemonOnAnvil
/** Each payment has an amount of its own, by which it is known. */
let amount = 0n

beforeAll(async () => {
  ;({ anvil, token } = await startReplayable())
  stack.defer(() => anvil.stop())
  const reported = { name: 'base', chainId: anvil.chainId, urls: [anvil.url], token: token.address }
  world = await startDaemonOnAnvil([{ ...reported, more: { startHeight: 0 } }], stack)
})
afterAll(() => stack.disposeAsync())
beforeEach(() => makeFinal())

/** Mines until everything that was sent is final, and waits until the daemon has read it. */
async function makeFinal(): Promise<void> {
  await anvil.mine(3)
  const head = await anvil.client.getBlockNumber()
  await untilRead(world, 'base', head - 2n)
}

/** A token transfer to the address that is watched; not mined yet. */
async function pay(): Promise<Hex> {
  amount += 1n
  return token.send(depositor, amount)
}

/** The service says that it has credited this payment. */
async function credit(tx: Hex): Promise<void> {
  const [log] = (await anvil.client.getTransactionReceipt({ hash: tx })).logs
  const [index, paid] = [String(log?.logIndex), BigInt(log?.data ?? 0)]
  world.credited.push({ network: 'base', tx, index, contract: token.address, amount: paid })
}

/** The states of the deposits that a transaction made, oldest first, each with what is booked of it now. */
async function stateOf(tx: Hex): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', state, (
      select string_agg(kind, ' ' order by kind) from ledger_journal j where j.transfer = d.transfer
        and kind <> 'reversal' and not exists (select from ledger_journal r where r.reverses = j.id)
    )) as line from deposit d where tx = ${tx} and merged_into is null order by id`.execute(world.db)
  return rows.map(({ line }) => line)
}

async function untilIs(tx: Hex, state: readonly string[]): Promise<void> {
  await expect.poll(() => stateOf(tx), { message: tx }).toEqual(state)
}

async function rewinds(): Promise<number> {
  const metrics = await (await fetch(`${world.daemon.opsUrl}/metrics`)).text()
  return Number(/^depositd_chain_reorgs_total\{network="base"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

/** Payments that were booked and are told of as gone. */
async function gone(): Promise<unknown[]> {
  const { rows } = await sql`
    select subject from mismatch where kind = 'orphaned_after_booking' and cleared_at is null`.execute(
    world.db,
  )
  return rows
}

async function hold(): Promise<void> {
  await makeFinal()
  const watched = { network: 'base', rpcUrl: anvil.url, address: depositor, token: token.address }
  await holdInvariants(world, watched)
}

test('a reorganisation of one block: what was only seen is withdrawn, and was never booked', async () => {
  const tx = await pay()
  await anvil.mine()
  await untilIs(tx, ['observed'])
  const before = await rewinds()
  await anvil.reorg(1)
  await makeFinal()
  await untilIs(tx, ['orphaned'])
  await hold()
  expect(await rewinds()).toBe(before)
})

test('a reorganisation of 64 blocks: what was final and is gone is reversed, what is below stands', async () => {
  const depth = 64
  const kept = await pay()
  await anvil.mine()
  await credit(kept)
  const fork = await anvil.client.getBlockNumber()
  const lost = await pay()
  const steps = Math.ceil(depth / 8)
  for (let step = 1; step <= steps; step++) {
    await anvil.mine(depth / steps)
    const head = await anvil.client.getBlockNumber()
    await untilRead(world, 'base', head - 2n)
  }
  expect(await anvil.client.getBlockNumber()).toBe(fork + BigInt(depth))
  await untilIs(kept, ['reconciled conversion deposit settlement'])
  await untilIs(lost, ['confirmed deposit'])
  const before = await rewinds()
  await anvil.reorg(depth)
  await makeFinal()
  await untilIs(lost, ['orphaned'])
  await untilIs(kept, ['reconciled conversion deposit settlement'])
  await hold()
  expect(await rewinds()).toBe(before + 1)
})

test('history that goes to another one and back again: each time the books follow', async () => {
  const fork = await anvil.client.getBlockNumber()
  const tx = await pay()
  await anvil.mine(5)
  const [raw, { hash: first }] = [
    await rawOf(anvil, tx),
    await anvil.client.getBlock({ blockNumber: fork + 1n }),
  ]
  await makeFinal()
  await untilIs(tx, ['confirmed deposit'])
  const before = await rewinds()
  for (let round = 1; round <= 2; round++) {
    await replaceAbove(anvil, fork)
    await makeFinal()
    await untilIs(tx, ['orphaned'])
    await replaceAbove(anvil, fork, [[raw]])
    expect((await anvil.client.getBlock({ blockNumber: fork + 1n })).hash).toBe(first)
    await makeFinal()
    await untilIs(tx, ['confirmed deposit'])
    expect(await rewinds()).toBe(before + 2 * round)
  }
  await hold()
})

test('payments that are included again elsewhere, under other numbers, are one deposit each, booked once', async () => {
  const fork = await anvil.client.getBlockNumber()
  const [reported, unreported] = [await pay(), await pay()]
  await anvil.mine()
  await credit(reported)
  await makeFinal()
  await untilIs(reported, ['reconciled conversion deposit settlement'])
  await untilIs(unreported, ['confirmed deposit'])
  const before = await gone()
  const extra = await signTransfer({ anvil, token }, rich.address, 5n)
  await replaceAbove(anvil, fork, [[], [extra, await rawOf(anvil, reported), await rawOf(anvil, unreported)]])
  await makeFinal()
  await untilIs(reported, ['reconciled conversion deposit settlement'])
  await untilIs(unreported, ['confirmed deposit'])
  await hold()
  expect(await gone()).toEqual(before)
})

test('a transaction that is dropped, comes back and is dropped again is withdrawn each time', async () => {
  const serializedTransaction = await signTransfer({ anvil, token }, depositor, ++amount)
  const fork = await anvil.client.getBlockNumber()
  await pay()
  await makeFinal()
  const tx = await anvil.client.sendRawTransaction({ serializedTransaction })
  await anvil.mine()
  await untilIs(tx, ['observed'])
  await anvil.reorg(1)
  await makeFinal()
  await untilIs(tx, ['orphaned'])
  await replaceAbove(anvil, fork)
  await makeFinal()
  await anvil.client.sendRawTransaction({ serializedTransaction })
  await anvil.mine()
  await untilIs(tx, ['observed'])
  await anvil.reorg(1)
  await makeFinal()
  await untilIs(tx, ['orphaned'])
  await hold()
})
