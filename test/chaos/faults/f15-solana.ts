import type { Address } from '../../../src/core/asset.ts'
import { newAddress } from '../../support/solana-ledger.ts'
import {
  hidesFailures,
  ofUnknownVersion,
  type SolanaRefused,
  solanaRefused,
  withoutEntry,
} from '../../support/solana-lies.ts'
import { honest, type SolanaTestNode, startSolanaNode } from '../../support/solana-node.ts'
import { associatedAccount, owner, payer, pays } from '../../support/solana-watch.ts'
import type { Fault } from '../fault.ts'
import { bookedOf, holdOwnBooks } from '../own-books.ts'
import { cursorOf, type OwnGround, startOwnGround, untilRead, untilRefused } from '../own-ground.ts'
import type { Random } from '../random.ts'
import { mustBeSame, untilSame } from '../until-same.ts'

const firstSlot = 1000n
/** So many of the acts in one run, as the seed says. */
const actsOnce = 3
/** More than a page of signatures holds. */
const crowdedPayments = 1200

/** A node whose ledger the fault writes, as no node of a library would answer. */
export const solanaLies: Fault = {
  name: 'F15',
  title: 'Solana: signatures that vanish, come late or in another order, null, unknown versions, failures',
  ground: 'own',
  async strike(world, random) {
    await using stack = new AsyncDisposableStack()
    const node = await startSolanaNode()
    stack.defer(() => node.stop())
    const mint = node.addMint(6)
    const reported = { name: 'solana', chainId: null, urls: [node.url], token: mint, address: owner }
    const more = { startHeight: Number(firstSlot) }
    const ground = await startOwnGround(world, [{ ...reported, more }], stack)
    await untilRead(ground, 'solana', firstSlot)
    const stage = stageOf({ ground, node, mint, account: await associatedAccount(mint), random })
    const refusals = solanaRefused.map((lie) => (at: Stage) => refuse(at, lie))
    const acts = [...refusals, vanish, comeLate, beUnknown, fail, close, flipOrder]
    for (const act of random.shuffled(acts).slice(0, actsOnce)) await act(stage)
    await settle(stage)
    await holdOwnBooks(ground, {
      network: 'solana',
      rpcUrl: node.url,
      address: owner,
      mint,
      from: firstSlot,
    })
  },
}

type Place = { ground: OwnGround; node: SolanaTestNode; mint: Address; account: Address; random: Random }
type Stage = Place & {
  /** A payment of an amount of its own. */
  pay: (options?: Parameters<SolanaTestNode['transact']>[1]) => string
  nextAmount: () => bigint
}

function stageOf(place: Place): Stage {
  let amount = 0n
  const nextAmount = () => ++amount
  const pay: Stage['pay'] = (options) =>
    place.node.transact(pays(place.account, nextAmount(), place.mint), options)
  return { ...place, pay, nextAmount }
}

/** The honest node has something new, and is read up to it; a killed worker comes between, as the seed says. */
async function settle({ ground, node, random }: Stage): Promise<void> {
  if (random.fraction() < 0.2) await ground.replaceWorker()
  node.lie(honest)
  node.slot += 1n
  await untilRead(ground, 'solana', node.slot)
}

const untilBooked = ({ ground }: Stage, ...txs: readonly string[]) =>
  untilSame(
    'what is booked',
    () => bookedOf(ground, 'solana', txs),
    txs.map(() => 'deposit'),
  )

const nothingBooked = async ({ ground }: Stage, ...txs: readonly string[]) =>
  mustBeSame('what is booked', await bookedOf(ground, 'solana', txs), [])

async function mustStandBelow({ ground }: Stage, slot: bigint): Promise<void> {
  const reached = (await cursorOf(ground, 'solana'))?.height ?? 0n
  if (reached >= slot) throw new Error(`Solana is read up to ${reached}, over what is refused at ${slot}`)
}

/** It moves nothing, and is read on when it is well again. */
async function refuse(stage: Stage, { lie, refusal }: SolanaRefused): Promise<void> {
  const { node } = stage
  await untilBooked(stage, stage.pay())
  const tx = stage.pay()
  const { slot } = node
  node.slot += 2n
  node.lie(lie(node, { tx, slot }))
  await untilRefused(stage.ground, refusal)
  await mustStandBelow(stage, slot)
  await nothingBooked(stage, tx)
  await settle(stage)
  await untilBooked(stage, tx)
}

/** The list is refused, and the blocks are read in its place. */
async function vanish(stage: Stage): Promise<void> {
  const { ground, node } = stage
  const earlier = stage.pay()
  await untilBooked(stage, earlier)
  node.lie(withoutEntry(node, earlier))
  node.slot += 3n
  await untilRefused(ground, /is no longer listed/)
  await untilRead(ground, 'solana', node.slot)
  await settle(stage)
  await untilBooked(stage, earlier)
}

/** Listed only when reading is past it. */
async function comeLate(stage: Stage): Promise<void> {
  const { ground, node } = stage
  await settle(stage)
  const tx = stage.pay()
  node.lie(withoutEntry(node, tx))
  node.slot += 3n
  await untilRead(ground, 'solana', node.slot)
  await nothingBooked(stage, tx)
  await settle(stage)
  await untilBooked(stage, tx)
}

/** A gap that is told, and closes when the version is known. */
async function beUnknown(stage: Stage): Promise<void> {
  const { ground, node } = stage
  const before = stage.pay()
  const unknown = stage.pay()
  const { slot } = node
  const after = stage.pay()
  node.lie(ofUnknownVersion({ tx: unknown, slot }))
  await untilRead(ground, 'solana', node.slot)
  await untilBooked(stage, before, after)
  await nothingBooked(stage, unknown)
  await untilSame('the gap is told', () => hasGaps(ground), true)
  await settle(stage)
  await untilBooked(stage, unknown)
  await untilSame('the gap is closed', () => hasGaps(ground), false)
}

async function hasGaps({ rows }: OwnGround): Promise<boolean> {
  const gaps = await rows(`select from accounting.coverage_gaps where network = 'solana'`)
  return gaps.length > 0
}

/** It moves nothing, also where it is listed as a good one. */
async function fail(stage: Stage): Promise<void> {
  const { ground, node } = stage
  const open = stage.pay({ failed: true })
  await settle(stage)
  const hidden = stage.pay({ failed: true })
  node.lie(hidesFailures(node))
  await untilRead(ground, 'solana', node.slot)
  await untilBooked(stage, stage.pay())
  await nothingBooked(stage, open, hidden)
}

/** An account that was made, filled and emptied between two scans. */
async function close(stage: Stage): Promise<void> {
  const { node, mint } = stage
  const [made, amount] = [newAddress(), stage.nextAmount()]
  const tx = node.transact(pays(made, amount, mint))
  node.transact([
    { account: owner },
    { account: made, token: { mint, owner, before: amount, after: 0n } },
    { account: payer, token: { mint, owner: payer, before: 0n, after: amount } },
  ])
  await untilBooked(stage, tx)
}

/** More than a page, whose end is within a slot, in an order that is another in every second answer. */
async function flipOrder(stage: Stage): Promise<void> {
  const { node, random } = stage
  node.flipSlots()
  const together = random.between(3, 9)
  const txs = Array.from({ length: crowdedPayments }, (_, place) =>
    stage.pay({ together: place % together !== 0 }),
  )
  node.slot += firstSlot
  await untilBooked(stage, ...txs)
}
