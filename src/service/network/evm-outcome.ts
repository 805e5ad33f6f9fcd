import {
  type Hex,
  isHex,
  type PublicClient,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem'
import { assert } from '../../core/errors.ts'
import type { Share } from '../running/sharing.ts'
import type { Outcome } from './port.ts'

/** Landed and reverted are told only of transactions in a final block. */
export async function evmOutcome(
  { client, share }: { client: PublicClient; share: Share },
  transaction: string,
): Promise<Outcome> {
  assert(isHex(transaction), 'an EVM transaction is known by its hash')
  const final = await share('final', () => client.getBlock({ blockTag: 'finalized' }))
  const receipt = await client.getTransactionReceipt({ hash: transaction }).catch(nullIfNotFound)
  if (receipt === null) return { kind: 'open', known: await isKnown(client, transaction) }
  if (receipt.blockNumber > final.number) return { kind: 'open', known: true }
  if (receipt.status === 'reverted') return { kind: 'reverted' }
  const { blockNumber } = receipt
  const block = await share(`block ${blockNumber}`, () => client.getBlock({ blockNumber }))
  return { kind: 'landed', at: new Date(Number(block.timestamp) * 1000) }
}

async function isKnown(client: PublicClient, hash: Hex): Promise<boolean> {
  return (await client.getTransaction({ hash }).catch(nullIfNotFound)) !== null
}

function nullIfNotFound(error: unknown): null {
  const found = error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError
  if (!found) throw error
  return null
}
