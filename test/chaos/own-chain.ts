import type { Hex } from 'viem'
import { type Replayable, startReplayable } from '../support/anvil-history.ts'
import { depositor, type Told } from '../support/told-networks.ts'
import { holdOwnBooks } from './own-books.ts'
import { type OwnGround, startOwnGround, untilRead } from './own-ground.ts'
import type { Random } from './random.ts'
import type { ChaosWorld } from './world.ts'

/** An own ground over one EVM chain, called `base`, that mines only when it is told to. */
export type OwnChain = Replayable & {
  ground: OwnGround
  random: Random
  /** A token transfer to the address that is watched, of an amount of its own; not mined yet. */
  pay: () => Promise<Hex>
  /** The service says that it has credited this payment. */
  credit: (tx: Hex) => Promise<void>
  /** Mines until everything that was sent is final, and waits until the daemon has read it. */
  makeFinal: (blocks?: number) => Promise<void>
  /** Holds the books against the chain as it is now. */
  hold: () => Promise<void>
  /** Kills the worker, or does not, as the seed says. */
  mayKill: () => Promise<void>
}

type OnChain = { world: ChaosWorld; random: Random; stack: AsyncDisposableStack }

/** @param told what the daemon is told of the chain beside where it is, and where else its node seems to be. */
export async function startOwnChain(
  { world, random, stack }: OnChain,
  told: Partial<Told> = { more: { startHeight: 0 } },
): Promise<OwnChain> {
  const chain = await startReplayable()
  const { anvil, token } = chain
  stack.defer(() => anvil.stop())
  const base = { name: 'base', chainId: anvil.chainId, urls: [anvil.url], token: token.address }
  const ground = await startOwnGround(world, [{ ...base, ...told }], stack)
  let amount = 0n
  const makeFinal = async (blocks = 3): Promise<void> => {
    await anvil.mine(blocks)
    await untilRead(ground, 'base', (await anvil.client.getBlockNumber()) - 2n)
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
      await holdOwnBooks(ground, {
        network: 'base',
        rpcUrl: anvil.url,
        address: depositor,
        token: token.address,
      })
    },
    async mayKill() {
      if (random.fraction() < 0.3) await ground.replaceWorker()
    },
  }
}
