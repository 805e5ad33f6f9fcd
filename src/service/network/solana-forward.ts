import {
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getSignatureFromTransaction,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  address as toSolanaAddress,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  fetchMaybeToken,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Address, assetCode, toTxId } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import type { Draft, Order, Outcome, SignedForward } from './port.ts'
import type { SolanaRpc } from './solana.ts'

type Purse = { rpc: SolanaRpc; settings: NetworkSettings; liquidity: KeyPairSigner }

const memoProgram = toSolanaAddress('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/**
 * The reference goes into a memo: without it two equal forwards signed on one blockhash would be one and the same
 * transaction, and only one of them would be paid.
 */
export async function draftSolanaForward(purse: Purse, order: Order): Promise<Draft> {
  const code = assetCode(order.asset)
  const transfer =
    code === 'native' ? await lamportTransfer(purse, order) : await tokenTransfer(purse, order, code)
  const { value: lifetime } = await purse.rpc.getLatestBlockhash({ commitment: 'finalized' }).send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(purse.liquidity, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([...transfer, memo(order.reference)], timed),
  )
  return {
    sign: async () => {
      const signed = await signTransactionMessageWithSigners(message)
      return {
        transaction: toTxId(getSignatureFromTransaction(signed)),
        bytes: Uint8Array.from(getTransactionEncoder().encode(signed)),
        nonce: null,
        expiresHeight: lifetime.lastValidBlockHeight,
      }
    },
  }
}

/**
 * The height is asked before the transaction: once the last block that could hold it is final, a node that does not
 * list it tells that it never landed.
 */
export async function solanaOutcome(
  rpc: SolanaRpc,
  { transaction, expiresHeight }: Omit<SignedForward, 'nonce'>,
): Promise<Outcome> {
  assert(expiresHeight !== null, 'a Solana transaction expires')
  const signature = transaction as string as Signature
  const finalHeight = await rpc.getBlockHeight({ commitment: 'finalized' }).send()
  const { value } = await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
  const status = value[0] ?? null
  if (status === null)
    return finalHeight > expiresHeight ? { kind: 'expired' } : { kind: 'open', known: false }
  if (status.confirmationStatus !== 'finalized') return { kind: 'open', known: true }
  if (status.err !== null) return { kind: 'reverted' }
  const landed = await rpc
    .getTransaction(signature, {
      commitment: 'finalized',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()
  if (landed === null) return { kind: 'open', known: true }
  return { kind: 'landed', at: new Date(Number(landed.blockTime) * 1000) }
}

async function lamportTransfer({ rpc, settings, liquidity }: Purse, order: Order): Promise<Instruction[]> {
  const { value: balance } = await rpc.getBalance(liquidity.address, { commitment: 'confirmed' }).send()
  if (balance < order.amount) throw shortOf(settings, order, balance)
  const destination = toSolanaAddress(order.to)
  return [getTransferSolInstruction({ source: liquidity, destination, amount: order.amount })]
}

/** The recipient's associated account is made where it is missing; making it again does nothing. */
async function tokenTransfer(
  { rpc, settings, liquidity }: Purse,
  order: Order,
  code: Address,
): Promise<Instruction[]> {
  const mint = toSolanaAddress(code)
  const owner = toSolanaAddress(order.to)
  const tokenProgram = TOKEN_PROGRAM_ADDRESS
  const [[source], [destination]] = await Promise.all([
    findAssociatedTokenPda({ owner: liquidity.address, mint, tokenProgram }),
    findAssociatedTokenPda({ owner, mint, tokenProgram }),
  ])
  const account = await fetchMaybeToken(rpc, source, { commitment: 'confirmed' })
  const balance = account.exists ? account.data.amount : 0n
  if (balance < order.amount) throw shortOf(settings, order, balance)
  const decimals = settings.assets.find(({ key }) => key === order.asset)?.decimals
  assert(decimals !== undefined, 'only assets of the settings are forwarded')
  return [
    getCreateAssociatedTokenIdempotentInstruction({ payer: liquidity, ata: destination, owner, mint }),
    getTransferCheckedInstruction({
      source,
      mint,
      destination,
      authority: liquidity,
      amount: order.amount,
      decimals,
    }),
  ]
}

function memo(text: string): Instruction {
  return { programAddress: memoProgram, accounts: [], data: new TextEncoder().encode(text) }
}

function shortOf({ name }: NetworkSettings, { asset, amount }: Order, balance: bigint): Fault {
  const problem = `the liquidity wallet holds ${balance} of ${asset}, not ${amount}`
  return new Fault('remote_failed', { what: `forwarding on ${name}`, problem })
}
