import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { tell } from '../log/tell.ts'
import type { EvmClient } from './evm-client.ts'

export type MinerSettings = {
  client: EvmClient
  blockMs: number
  log: Logger
  onBlock: () => Promise<void>
}

/** Blocks after which a transaction's own block is `finalized`. */
const blocksToFinal = 2
const idleBlockMs = 5000

/**
 * Makes blocks: one each `blockMs` while a transaction waits or is not final, else one now and then. A chain that
 * grows by a block a second fills memory and disk overnight without anything having happened on it.
 * The first blocks come at once, because a node that was loaded knows no state but its head's until then.
 */
export async function startMining(settings: MinerSettings): Promise<{ stop(): Promise<void> }> {
  await settings.client.mine({ blocks: blocksToFinal })
  const stopping = new AbortController()
  const mining = mineUntil(stopping.signal, settings)
  return {
    async stop() {
      stopping.abort()
      await mining
    },
  }
}

async function mineUntil(stopping: AbortSignal, settings: MinerSettings): Promise<void> {
  let minedAt = performance.now()
  while (await waited(settings.blockMs, stopping)) {
    try {
      const isIdle = performance.now() - minedAt < idleBlockMs && !(await isBusy(settings.client))
      if (isIdle) continue
      await settings.client.mine({ blocks: 1 })
      minedAt = performance.now()
      await settings.onBlock()
    } catch (error) {
      // One block comes late; the next turn tries again.
      if (!stopping.aborted) tell(settings.log, 'block_not_made', { err: error })
    }
  }
}

async function isBusy(client: EvmClient): Promise<boolean> {
  const { pending } = await client.getTxpoolStatus()
  if (pending > 0) return true
  const head = await client.getBlock()
  if (head.transactions.length > 0 || head.number === 0n) return head.transactions.length > 0
  const parent = await client.getBlock({ blockNumber: head.number - 1n })
  return parent.transactions.length > 0
}

/** False where the wait was ended because of the stop. */
async function waited(milliseconds: number, stopping: AbortSignal): Promise<boolean> {
  try {
    await sleep(milliseconds, undefined, { signal: stopping })
    return true
  } catch {
    return false
  }
}
