import { randomInt } from 'node:crypto'
import {
  type Address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { blockhashLifetimeSlots, type Slots } from './slots.ts'

export type LamportFaucet = {
  transfer(to: Address, amount: bigint): Promise<Uint8Array>
}

export function createFaucet(signer: KeyPairSigner, slots: Slots): LamportFaucet {
  return {
    async transfer(to, amount) {
      const slot = slots.at('processed')
      const lifetime = {
        blockhash: slots.blockhashOf(slot),
        lastValidBlockHeight: BigInt(slot + blockhashLifetimeSlots),
      }
      const transfer = getTransferSolInstruction({
        source: signer,
        destination: to,
        amount: lamports(amount),
      })
      const message = pipe(
        createTransactionMessage({ version: 'legacy' }),
        (draft) => setTransactionMessageFeePayerSigner(signer, draft),
        (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
        (draft) => appendTransactionMessageInstructions([uniqueInstruction(), transfer], draft),
      )
      const transaction = await signTransactionMessageWithSigners(message)
      return Uint8Array.from(getTransactionEncoder().encode(transaction))
    },
  }
}

const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111' as Address
const setComputeUnitLimit = 2
/** Includes creating the receiver's token account. */
const unitsMin = 200_000
const unitsSpan = 1_000_000

let count = randomInt(unitsSpan)

/**
 * The second of two identical transactions of one slot counts as a repetition. A varied compute unit limit costs
 * nothing.
 */
export function uniqueInstruction(): Instruction {
  count = (count + 1) % unitsSpan
  const data = new Uint8Array(5)
  data[0] = setComputeUnitLimit
  new DataView(data.buffer).setUint32(1, unitsMin + count, true)
  return { programAddress: computeBudgetProgram, data }
}
