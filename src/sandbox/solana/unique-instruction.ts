import { randomInt } from 'node:crypto'
import type { Address, Instruction } from '@solana/kit'

const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111' as Address
const setComputeUnitLimit = 2
/** Enough for a transfer that also makes the receiver's token account. */
const unitsMin = 200_000
const unitsSpan = 1_000_000

let count = randomInt(unitsSpan)

/**
 * Makes two transactions differ that are otherwise the same and sent within one slot: the second would count as
 * the first one repeated. The limit on work serves for it, because it costs nothing and moves nothing.
 */
export function uniqueInstruction(): Instruction {
  count = (count + 1) % unitsSpan
  const data = new Uint8Array(5)
  data[0] = setComputeUnitLimit
  new DataView(data.buffer).setUint32(1, unitsMin + count, true)
  return { programAddress: computeBudgetProgram, data }
}
