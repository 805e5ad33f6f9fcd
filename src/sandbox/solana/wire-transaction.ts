import {
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit'
import { messageOf } from '../../core/errors.ts'
import { invalidParams } from './rpc-error.ts'

/** A transaction as received, decoded. */
export type WireTransaction = {
  transaction: Transaction
  message: CompiledTransactionMessage & CompiledTransactionMessageWithLifetime
  accounts: readonly Address[]
  /** In the order of the signing accounts; the first identifies the transaction. */
  signatures: readonly string[]
}

const unsigned = new Uint8Array(64)

/** @throws RpcError -32602 */
export function parseTransaction(bytes: Uint8Array): WireTransaction {
  const { transaction, message } = decode(bytes)
  if ('addressTableLookups' in message && (message.addressTableLookups ?? []).length > 0) {
    throw invalidParams('this local chain keeps no address lookup tables')
  }
  const signatures = Object.values(transaction.signatures).map((signature) =>
    getBase58Decoder().decode(signature ?? unsigned),
  )
  return { transaction, message, accounts: message.staticAccounts, signatures }
}

function decode(bytes: Uint8Array): Pick<WireTransaction, 'transaction' | 'message'> {
  try {
    const transaction = getTransactionDecoder().decode(bytes)
    return { transaction, message: getCompiledTransactionMessageDecoder().decode(transaction.messageBytes) }
  } catch (error) {
    throw invalidParams(`the transaction cannot be decoded: ${messageOf(error)}`)
  }
}
