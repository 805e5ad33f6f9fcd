import type { Hex } from 'viem'
import { rich } from '../../support/anvil.ts'
import { rawOf, replaceAbove, signTransfer } from '../../support/anvil-history.ts'
import { depositor } from '../../support/reported-networks.ts'
import type { Fault } from '../fault.ts'
import { untilStateIs } from '../own-books.ts'
import { type OwnChain, type Striking, startOwnChain } from '../own-chain.ts'
import { untilRead } from '../own-ground.ts'
import { untilSame } from '../until-same.ts'

/** Each on a chain of its own, of which blocks go that were read as final; killed workers come between, as the seed says. */
export const reorgs: Fault[] = [
  {
    name: 'F11',
    title: 'reorganisations of 1, 3 and 64 blocks',
    ground: 'own',
    strike: (world, random) =>
      onChain({ world, random }, async (chain) => {
        for (const depth of random.shuffled([1, 3, 64])) await (depth === 1 ? loseOne : lose(depth))(chain)
      }),
  },
  {
    name: 'F11',
    title: 'history that goes and comes again, transactions dropped and included elsewhere',
    ground: 'own',
    strike: (world, random) =>
      onChain({ world, random }, async (chain) => {
        for (const act of random.shuffled([goThereAndBack, includeElsewhere, dropTwice])) await act(chain)
      }),
  },
]

async function onChain(
  striking: Omit<Striking, 'stack'>,
  act: (chain: OwnChain) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const chain = await startOwnChain({ ...striking, stack })
  await chain.makeFinal()
  await act(chain)
  await chain.hold()
}

/** What was only seen is withdrawn, and was never booked. */
async function loseOne(chain: OwnChain): Promise<void> {
  const { anvil, ground } = chain
  const tx = await chain.pay()
  await anvil.mine()
  await untilStateIs(ground, tx, 'observed')
  await anvil.reorg(1)
  await chain.mayKill()
  await chain.makeFinal()
  await untilStateIs(ground, tx, 'orphaned')
}

/** What was final and is gone is reversed, and what is below stands. */
const lose = (depth: number) => async (chain: OwnChain) => {
  const { anvil, ground } = chain
  const kept = await chain.pay()
  await anvil.mine()
  await chain.credit(kept)
  const lost = await chain.pay()
  const steps = Math.ceil(depth / 16)
  for (let step = 1; step <= steps; step++) {
    await anvil.mine(Math.ceil(depth / steps))
    await untilRead(ground, 'base', (await anvil.client.getBlockNumber()) - 2n)
  }
  await untilStateIs(ground, kept, 'reconciled deposit settlement conversion')
  await untilStateIs(ground, lost, 'confirmed deposit')
  await anvil.reorg(depth)
  await chain.mayKill()
  await chain.makeFinal()
  await untilStateIs(ground, lost, 'orphaned')
  await untilStateIs(ground, kept, 'reconciled deposit settlement conversion')
}

/** A, B, and A again, to the same block hash: each time the books follow. */
async function goThereAndBack(chain: OwnChain): Promise<void> {
  const { anvil, ground } = chain
  const fork = await anvil.client.getBlockNumber()
  const tx = await chain.pay()
  await anvil.mine(5)
  const raw = await rawOf(anvil, tx)
  const first = await hashAt(chain, fork + 1n)
  await chain.makeFinal()
  await untilStateIs(ground, tx, 'confirmed deposit')
  await replaceAbove(anvil, fork)
  await chain.mayKill()
  await chain.makeFinal()
  await untilStateIs(ground, tx, 'orphaned')
  await replaceAbove(anvil, fork, [[raw]])
  if ((await hashAt(chain, fork + 1n)) !== first) throw new Error('history did not come back as it was')
  await chain.mayKill()
  await chain.makeFinal()
  await untilStateIs(ground, tx, 'confirmed deposit')
}

const hashAt = async ({ anvil }: OwnChain, height: bigint): Promise<Hex> =>
  (await anvil.client.getBlock({ blockNumber: height })).hash

/** In a later block, under other log numbers: one deposit each, booked once. */
async function includeElsewhere(chain: OwnChain): Promise<void> {
  const { anvil, ground } = chain
  const fork = await anvil.client.getBlockNumber()
  const [reported, unreported] = [await chain.pay(), await chain.pay()]
  await anvil.mine()
  await chain.credit(reported)
  await chain.makeFinal()
  await untilStateIs(ground, reported, 'reconciled deposit settlement conversion')
  await untilStateIs(ground, unreported, 'confirmed deposit')
  const extra = await signTransfer(chain, rich.address, 5n)
  await replaceAbove(anvil, fork, [[], [extra, await rawOf(anvil, reported), await rawOf(anvil, unreported)]])
  await chain.mayKill()
  await chain.makeFinal()
  await untilStateIs(ground, reported, 'reconciled deposit settlement conversion')
  await untilStateIs(ground, unreported, 'confirmed deposit')
  const gone = `select subject from mismatch where kind = 'orphaned_after_booking' and cleared_at is null
    and deposit_id in (select id from deposit where tx = any($1))`
  await untilSame('what is told as gone', () => ground.rows(gone, [[reported, unreported]]), [])
}

/**
 * Dropped twice before it was final, and withdrawn. Where it comes back to stay it is booked, no sooner than it is final:
 * until then the withdrawal counts.
 */
async function dropTwice(chain: OwnChain): Promise<void> {
  const { anvil, ground } = chain
  const serializedTransaction = await signTransfer(chain, depositor, 7_000n)
  const send = async (): Promise<Hex> => {
    const tx = await anvil.client.sendRawTransaction({ serializedTransaction })
    await anvil.mine()
    return tx
  }
  const tx = await send()
  await untilStateIs(ground, tx, 'observed')
  for (let round = 1; round <= 2; round++) {
    await anvil.reorg(1)
    await chain.mayKill()
    await chain.makeFinal()
    await untilStateIs(ground, tx, 'orphaned')
    await send()
    await untilSeenAt(chain, tx)
  }
  await untilStateIs(ground, tx, 'orphaned')
  await chain.makeFinal()
  await untilStateIs(ground, tx, 'confirmed deposit')
}

/** The place where it is now was read. */
async function untilSeenAt({ anvil, ground }: OwnChain, tx: Hex): Promise<void> {
  const { blockHash } = await anvil.client.getTransactionReceipt({ hash: tx })
  const seen = 'select stage from chain_transfer where block_hash = $1'
  await untilSame(`the place of ${tx}`, () => ground.rows(seen, [blockHash]), [{ stage: 'seen' }])
}
