import type { Hex } from 'viem'
import { type Replayable, startReplayable } from '../support/anvil-history.ts'
import { depositor, type Reported } from '../support/reported-networks.ts'
import { holdOwnBooks } from './own-books.ts'
import { type OwnGround, startOwnGround, untilRead } from './own-ground.ts'
import type { Random } from './random.ts'
import type { ChaosWorld } from './world.ts'

/** An own ground over one EVM chain that mines only when it is told to; the daemon may know it by several names. */
export type OwnChain = Replayable & {
  ground: OwnGround
  random: Random
  /** A token transfer to the address that is watched, of an amount of its own; not mined yet. */
  pay: () => Promise<Hex>
  /** The service says that it has credited this payment. */
  credit: (tx: Hex) => Promise<void>
  /** Mines until everything that was sent is final, and waits until the daemon has read it under each name. */
  makeFinal: (blocks?: number) => Promise<void>
  /** Holds the books against the chain as it is now. */
  hold: () => Promise<void>
  /** Kills the worker, or does not, as the seed says. */
  mayKill: () => Promise<void>
}

export type Striking = { world: ChaosWorld; random: Random; stack: AsyncDisposableStack }

/** What the daemon is told of the chain, one entry for each name that it knows it by. */
type Telling = (chain: Replayable) => Promise<readonly Partial<Reported>[]>

const bySelf: Telling = () => Promise.resolve([{}])

export async function startOwnChain(
  { world, random, stack }: Striking,
  telling: Telling = bySelf,
): Promise<OwnChain> {
  const chain = await startReplayable()
  const { anvil, token } = chain
  stack.defer(() => anvil.stop())
  const base = { name: 'base', chainId: anvil.chainId, urls: [anvil.url], token: token.address }
  const reported = (await telling(chain)).map((one) => ({ ...base, more: { startHeight: 0 }, ...one }))
  const others = reported.flatMap((one) => (one.others ?? []).map(({ contract }) => contract))
  const ground = await startOwnGround(world, reported, stack)
  let amount = 0n
  const makeFinal = async (blocks = 3): Promise<void> => {
    await anvil.mine(blocks)
    const height = (await anvil.client.getBlockNumber()) - 2n
    for (const { name } of reported) await untilRead(ground, name, height)
  }
  return {
    ...chain,
    ground,
    random,
    pay: () => token.send(depositor, ++amount),
    async credit(tx) {
      const [log] = (await anvil.client.getTransactionReceipt({ hash: tx })).logs
      const [index, paid] = [String(log?.logIndex), BigInt(log?.data ?? 0)]
      ground.credited.push({ network: 'base', tx, index, contract: token.address, amount: paid })
    },
    makeFinal,
    async hold() {
      await makeFinal()
      const watched = reported.map(({ name }) => {
        return { network: name, rpcUrl: anvil.url, address: depositor, token: token.address, others }
      })
      await holdOwnBooks(ground, ...watched)
    },
    async mayKill() {
      if (random.fraction() < 0.3) await ground.replaceWorker()
    },
  }
}
