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

export type Faucet = {
  /** A signed transaction that gives lamports away. */
  transfer(to: Address, amount: bigint): Promise<Uint8Array>
}

export function createFaucet(signer: KeyPairSigner, slots: Slots): Faucet {
  let count = 0
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
        (draft) => appendTransactionMessageInstructions([numbered(count++), transfer], draft),
      )
      const transaction = await signTransactionMessageWithSigners(message)
      return Uint8Array.from(getTransactionEncoder().encode(transaction))
    },
  }
}

const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111' as Address
const setComputeUnitLimit = 2
const unitsMin = 10_000
const numbersMax = 1_000_000

/** Without it, the same amount for the same account in the same slot would be the same transaction. */
function numbered(count: number): Instruction {
  const data = new Uint8Array(5)
  data[0] = setComputeUnitLimit
  new DataView(data.buffer).setUint32(1, unitsMin + (count % numbersMax), true)
  return { programAddress: computeBudgetProgram, data }
}
