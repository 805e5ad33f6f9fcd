import { randomInt } from 'node:crypto'
import type { Address, Instruction } from '@solana/kit'

const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111' as Address
const setComputeUnitLimit = 2
/** Enough for a transfer that also creates the receiver's token account. */
const unitsMin = 200_000
const unitsSpan = 1_000_000

let count = randomInt(unitsSpan)

/**
 * Makes two otherwise identical transactions of one slot differ; the second would count as a repetition of the first.
 * It varies the compute unit limit, which costs nothing and moves nothing.
 */
export function uniqueInstruction(): Instruction {
  count = (count + 1) % unitsSpan
  const data = new Uint8Array(5)
  data[0] = setComputeUnitLimit
  new DataView(data.buffer).setUint32(1, unitsMin + count, true)
  return { programAddress: computeBudgetProgram, data }
}
