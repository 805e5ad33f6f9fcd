import {
  appendTransactionMessageInstructions,
  type createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { type TxId, toTxId } from '../core/asset.ts'
import { uniqueInstruction } from './solana/unique-instruction.ts'

export type SandboxSolanaRpc = ReturnType<typeof createSolanaRpc>

/** Signs and sends. When this returns, the node has run the transaction. */
export async function sendInstructions(
  rpc: SandboxSolanaRpc,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<TxId> {
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions([uniqueInstruction(), ...instructions], draft),
  )
  const wire = getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
  return toTxId(await rpc.sendTransaction(wire, { encoding: 'base64' }).send())
}
