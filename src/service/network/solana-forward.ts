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
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import type { Draft, Order, Outcome, SignedTransfer } from './port.ts'
import type { SolanaRpc } from './solana.ts'

type Purse = { rpc: SolanaRpc; settings: NetworkSettings; keyring: Keyring }
/** The liquidity wallet pays the fee and the rent, whoever's assets are moved. */
type Signers = { feePayer: KeyPairSigner; holder: KeyPairSigner }

const memoProgram = toSolanaAddress('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/**
 * The reference goes into a memo: without it two equal forwards signed on one blockhash would be one and the same
 * transaction, and only one of them would be paid.
 */
export async function draftSolanaForward(purse: Purse, order: Order): Promise<Draft> {
  const code = assetCode(order.asset)
  const paying = { ...purse, ...(await signersOf(purse.keyring, order.branch)) }
  const { feePayer } = paying
  const transfer =
    code === 'native' ? await lamportTransfer(paying, order) : await tokenTransfer(paying, order, code)
  const { value: lifetime } = await purse.rpc.getLatestBlockhash({ commitment: 'finalized' }).send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions([...transfer, memo(order.reference)], timed),
  )
  return {
    amount: order.amount,
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
  { transaction, expiresHeight }: Pick<SignedTransfer, 'transaction' | 'expiresHeight'>,
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

/** One address is one signer object: a message with two of them for one address is refused. */
async function signersOf(keyring: Keyring, branch: number): Promise<Signers> {
  const feePayer = await keyring.solanaSigner(liquidityBranch)
  return { feePayer, holder: branch === liquidityBranch ? feePayer : await keyring.solanaSigner(branch) }
}

async function lamportTransfer(
  { rpc, settings, holder }: Purse & Signers,
  order: Order,
): Promise<Instruction[]> {
  const { value: balance } = await rpc.getBalance(holder.address, { commitment: 'confirmed' }).send()
  if (balance < order.amount) throw shortOf(settings, order, balance)
  const destination = toSolanaAddress(order.to)
  return [getTransferSolInstruction({ source: holder, destination, amount: order.amount })]
}

/** The recipient's associated account is made where it is missing; making it again does nothing. */
async function tokenTransfer(
  { rpc, settings, feePayer, holder }: Purse & Signers,
  order: Order,
  code: Address,
): Promise<Instruction[]> {
  const mint = toSolanaAddress(code)
  const owner = toSolanaAddress(order.to)
  const tokenProgram = TOKEN_PROGRAM_ADDRESS
  const [[source], [destination]] = await Promise.all([
    findAssociatedTokenPda({ owner: holder.address, mint, tokenProgram }),
    findAssociatedTokenPda({ owner, mint, tokenProgram }),
  ])
  const account = await fetchMaybeToken(rpc, source, { commitment: 'confirmed' })
  const balance = account.exists ? account.data.amount : 0n
  if (balance < order.amount) throw shortOf(settings, order, balance)
  const decimals = settings.assets.find(({ key }) => key === order.asset)?.decimals
  assert(decimals !== undefined, 'only assets of the settings are forwarded')
  return [
    getCreateAssociatedTokenIdempotentInstruction({ payer: feePayer, ata: destination, owner, mint }),
    getTransferCheckedInstruction({
      source,
      mint,
      destination,
      authority: holder,
      amount: order.amount,
      decimals,
    }),
  ]
}

function memo(text: string): Instruction {
  return { programAddress: memoProgram, accounts: [], data: new TextEncoder().encode(text) }
}

function shortOf({ name }: NetworkSettings, { asset, amount }: Order, balance: bigint): Fault {
  const problem = `the wallet holds ${balance} of ${asset}, not ${amount}`
  return new Fault('remote_failed', { what: `paying on ${name}`, problem })
}
