import {
  erc20Abi,
  type Hex,
  isAddressEqual,
  isHex,
  type PublicClient,
  parseEventLogs,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { assert } from '../../core/errors.ts'
import type { RequestCoalescer } from '../running/sharing.ts'
import { readTokenTransfer } from './evm-promises.ts'
import type { SignedTransferOutcome } from './port.ts'

type EvmOutcomeDeps = { client: PublicClient; share: RequestCoalescer }

/** Landed and reverted are told only of transactions in a final block. */
export async function evmOutcome(
  { client, share }: EvmOutcomeDeps,
  transaction: string,
): Promise<SignedTransferOutcome> {
  assert(isHex(transaction), 'an EVM transaction is known by its hash')
  const final = await share('final', () => client.getBlock({ blockTag: 'finalized' }))
  const receipt = await client.getTransactionReceipt({ hash: transaction }).catch(nullIfNotFound)
  if (receipt === null) return { kind: 'open', known: await isKnown(client, transaction) }
  if (receipt.blockNumber > final.number) return { kind: 'open', known: true }
  if (receipt.status === 'reverted') return { kind: 'reverted' }
  const { blockNumber } = receipt
  const block = await share(`block ${blockNumber}`, () => client.getBlock({ blockNumber }))
  if (block.hash !== receipt.blockHash) return { kind: 'open', known: true }
  const { input, to } = await client.getTransaction({ hash: transaction })
  const transfer = input === '0x' ? null : readTokenTransfer(input)
  if (transfer !== null && !moved(receipt, { from: receipt.from, to: transfer.to, token: to }))
    return { kind: 'reverted' }
  return { kind: 'landed', at: new Date(Number(block.timestamp) * 1000) }
}

type TokenTransferParties = { from: Hex; to: Hex; token: Hex | null }

/**
 * A token may answer that it refuses, and not revert: then nothing was moved and nothing logged. Where it logged
 * another amount than was asked for, something was moved, and it is not paid again.
 */
function moved({ logs }: TransactionReceipt, { from, to, token }: TokenTransferParties): boolean {
  return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs }).some(
    ({ address, args }) =>
      token !== null &&
      isAddressEqual(address, token) &&
      isAddressEqual(args.from, from) &&
      isAddressEqual(args.to, to) &&
      args.value > 0n,
  )
}

async function isKnown(client: PublicClient, hash: Hex): Promise<boolean> {
  return (await client.getTransaction({ hash }).catch(nullIfNotFound)) !== null
}

function nullIfNotFound(error: unknown): null {
  const found = error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError
  if (!found) throw error
  return null
}
