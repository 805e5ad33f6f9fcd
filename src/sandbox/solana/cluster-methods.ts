import { z } from 'zod'
import type { SolanaChain } from './chain.ts'
import {
  contextConfig,
  contextSlot,
  type Methods,
  nodeVersion,
  readParameters,
  slotParameter,
  withContext,
} from './parameters.ts'
import { blockhashLifetimeSlots } from './slots.ts'

const config = z.tuple([contextConfig.prefault({})])
const configAfter = <First extends z.ZodType>(first: First) => z.tuple([first, contextConfig.prefault({})])

/** The first epoch outlasts any local chain, so that what begins with an epoch begins at once or never. */
const slotsInEpoch = 2 ** 40

/** What the node says of itself and of the time. Every slot has a block, so heights are slots. */
export function clusterMethods(chain: SolanaChain): Methods {
  const { slots, runtime } = chain
  const slotOf = (parameters: readonly unknown[]): number =>
    contextSlot(chain, readParameters(config, parameters)[0])
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': nodeVersion, 'feature-set': 0 }),
    getGenesisHash: () => slots.blockhashOf(0),
    getFirstAvailableBlock: () => 0,
    getSlot: slotOf,
    getBlockHeight: slotOf,
    getEpochInfo(parameters) {
      const slot = slotOf(parameters)
      return { epoch: 0, absoluteSlot: slot, slotIndex: slot, blockHeight: slot, slotsInEpoch }
    },
    getLatestBlockhash(parameters) {
      const slot = slotOf(parameters)
      const lastValidBlockHeight = slot + blockhashLifetimeSlots
      return withContext(slot, { blockhash: slots.blockhashOf(slot), lastValidBlockHeight })
    },
    isBlockhashValid(parameters) {
      const [hash, wanted] = readParameters(configAfter(z.string()), parameters)
      const slot = contextSlot(chain, wanted)
      const usable = slots.usableSlotOf(hash)
      return withContext(slot, usable !== null && usable <= slot)
    },
    getMinimumBalanceForRentExemption(parameters) {
      const [bytes] = readParameters(configAfter(slotParameter), parameters)
      return runtime.rentFor(bytes)
    },
  }
}
