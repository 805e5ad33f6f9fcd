import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import { saveOwner } from '../../src/store/owners.ts'
import {
  type DaemonOnAnvil,
  startDaemonOnAnvil,
  untilRead,
  untilRefused,
} from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { newAddress } from '../support/solana-ledger.ts'
import { hidesFailures, ofUnknownVersion, solanaRefused, withoutEntry } from '../support/solana-lies.ts'
import { honest, type SolanaTestNode, startSolanaNode } from '../support/solana-node.ts'
import { associatedAccount, owner, payer, pays, solana } from '../support/solana-watch.ts'
import { until } from '../support/until.ts'

/** So many addresses are read by picking them out of every block. */
const crowd = 300

/** Of a block that is not there, other codes are in test/chain/solana/by-block.test.ts, and here with `ALL=1`. */
const refusedBy = (way: string) =>
  solanaRefused.filter(
    ({ name }) =>
      process.env.ALL !== undefined || !(way === 'by block' ? /-32004|-32009/ : /-320/).test(name),
  )

let stack: AsyncDisposableStack
let node: SolanaTestNode
let usdc: Address
let account: Address
let world: DaemonOnAnvil
/** Each payment has an amount of its own. */
let amount = 0n

async function start(others: number): Promise<void> {
  stack = new AsyncDisposableStack()
  node = await startSolanaNode()
  stack.defer(() => node.stop())
  usdc = node.addMint(6)
  account = await associatedAccount(usdc)
  const reported = { name: 'solana', chainId: null, urls: [node.url], token: usdc, address: owner }
  world = await startDaemonOnAnvil([{ ...reported, more: { startHeight: 1000 } }], stack)
  await untilRead(world, 'solana', 1000n)
  for (let count = 0; count < others; count++) await watch(`other-${count}`)
  await settle()
}

function watch(id: string): Promise<unknown> {
  const deposits = [{ network: solana, address: newAddress() }]
  return saveOwner(world.db, { owner: { kind: 'stable_wallet', id }, deposits, forward: null })
}

/** The honest node has something new, and is read up to it. */
async function settle(slots = 1n): Promise<void> {
  node.lie(honest)
  node.slot += slots
  await untilRead(world, 'solana', node.slot)
}

function pay(options = {}): string {
  amount += 1n
  return node.transact(pays(account, amount, usdc), options)
}

/** What is booked of transactions, one line for each journal. */
async function booked(...txs: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ tx: string }>`
    select split_part(transfer, '/', 2) as tx from ledger_journal where kind = 'deposit' order by id`.execute(
    world.db,
  )
  return rows.map(({ tx }) => tx).filter((tx) => txs.includes(tx))
}

async function untilBooked(...txs: readonly string[]): Promise<void> {
  const areBooked = async () => ((await booked(...txs)).length >= txs.length ? true : null)
  await until('what was paid is booked', areBooked, 30_000)
  expect((await booked(...txs)).toSorted()).toEqual(txs.toSorted())
}

async function expectWhole(): Promise<void> {
  await settle()
  const watched = { network: 'solana', rpcUrl: node.url, address: owner, mint: usdc, from: 1000n }
  await holdInvariants(world, watched)
}

/** Every slot that was left out for some address. */
async function gaps(): Promise<{ height: bigint }[]> {
  const { rows } = await sql<{ height: bigint }>`
    select generate_series(from_height, to_height) as height from accounting.coverage_gaps
    where network = 'solana'`.execute(world.db)
  return rows
}

describe.each([
  { way: 'by owner', others: 0 },
  { way: 'by block', others: crowd },
])('read $way', ({ way, others }) => {
  beforeAll(() => start(others))
  afterAll(() => stack.disposeAsync())

  test.each(refusedBy(way))(
    'a node that $name moves nothing, and is read on when it is well again',
    async ({ lie, refusal }) => {
      const earlier = pay()
      await untilBooked(earlier)
      const tx = pay()
      const { slot } = node
      node.slot += 2n
      node.lie(lie(node, { tx, slot }))
      await untilRefused(world, refusal)
      expect((await world.cursor('solana'))?.height).toBeLessThan(slot)
      expect(await booked(tx)).toEqual([])
      node.lie(honest)
      await untilBooked(tx)
    },
  )

  test('a transaction of an unknown version leaves a gap, which closes when it can be read', async () => {
    const before = pay()
    const unknown = pay()
    const { slot } = node
    const after = pay()
    node.lie(ofUnknownVersion({ tx: unknown, slot }))
    await untilRead(world, 'solana', node.slot)
    await untilBooked(before, after)
    expect(await booked(unknown)).toEqual([])
    await expect.poll(gaps).toContainEqual({ height: slot })
    node.lie(honest)
    await untilBooked(unknown)
    await expect.poll(gaps).toEqual([])
  })

  test('a failed transaction moves nothing, also where it is listed as a good one', async () => {
    const tx = pay({ failed: true })
    await settle()
    const hidden = pay({ failed: true })
    node.lie(hidesFailures(node))
    await untilRead(world, 'solana', node.slot)
    const good = pay()
    await untilBooked(good)
    expect(await booked(tx, hidden)).toEqual([])
    node.lie(honest)
  })

  test('an account that was made, filled, emptied and closed between two scans is read all the same', async () => {
    const made = newAddress()
    amount += 1n
    const tx = node.transact(pays(made, amount, usdc))
    node.transact([
      { account: owner },
      { account: made, token: { mint: usdc, owner, before: amount, after: 0n } },
      { account: payer, token: { mint: usdc, owner: payer, before: 0n, after: amount } },
    ])
    await untilBooked(tx)
  })

  test('after an answer that was good it is read in that way', async () => {
    await untilBooked(pay())
    node.calls.length = 0
    await untilBooked(pay())
    const wholes = node.calls.filter(
      ({ params }) =>
        (params[1] as { transactionDetails?: string } | undefined)?.transactionDetails === 'accounts',
    )
    expect(wholes.length > 0).toBe(others > 0)
  })

  test('the books hold what was paid, each payment once, and every slot was read', expectWhole)
})

describe('histories', () => {
  beforeAll(() => start(0))
  afterAll(() => stack.disposeAsync())

  test('a signature that was listed and vanishes is refused, and takes nothing back', async () => {
    const earlier = pay()
    await untilBooked(earlier)
    node.lie(withoutEntry(node, earlier))
    node.slot += 3n
    await untilRefused(world, /is no longer listed/)
    // Meanwhile blocks are read, which have it.
    expect(await booked(earlier)).toEqual([earlier])
    node.lie(honest)
    await untilRead(world, 'solana', node.slot)
    expect(await booked(earlier)).toEqual([earlier])
  })

  test('a signature that is listed late, below the cursor, is found', async () => {
    const tx = pay()
    node.lie(withoutEntry(node, tx))
    node.slot += 3n
    await untilRead(world, 'solana', node.slot)
    expect(await booked(tx)).toEqual([])
    await settle()
    await untilBooked(tx)
  })

  test('an order within slots that differs from page to page loses nothing and books nothing twice', async () => {
    node.flipSlots()
    // More than a page, whose end is within a slot, and further back than what is listed again.
    const txs = Array.from({ length: 1200 }, (_none, place) => pay({ together: place % 7 !== 0 }))
    node.slot += 1000n
    await untilBooked(...txs)
    await expectWhole()
  })
})
