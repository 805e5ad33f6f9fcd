import {
  type Address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getTransactionEncoder,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { blockhashLifetimeSlots, type Slots } from './slots.ts'
import { uniqueInstruction } from './unique-instruction.ts'

export type LamportFaucet = {
  /** @returns a signed transaction that gives lamports away */
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
