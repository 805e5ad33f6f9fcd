import {
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  address as toSolanaAddress,
} from '@solana/kit'
import { assetCode, type NetworkSettings, toTxId } from '../../core/asset.ts'
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import type { RequestCoalescer } from '../running/requests.ts'
import type { TransferDraft, TransferOrder } from './port.ts'
import type { SolanaNetworkRpc } from './solana-accounts.ts'
import {
  holderAsset,
  lamportsKey,
  type Plan,
  planLamports,
  planTokens,
  readRent,
  refused,
  type Signers,
  shortOf,
} from './solana-plan.ts'
import type { ReservedFunds, SolanaReservations } from './solana-reservations.ts'

export type SolanaWallet = {
  rpc: SolanaNetworkRpc
  settings: NetworkSettings
  keyring: Keyring
  reservations: SolanaReservations
  coalesce: RequestCoalescer
}

const memoProgram = toSolanaAddress('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/**
 * Fails if the transfer is expected to, so that no fee is spent. Signing fails if transfers signed meanwhile leave too
 * little. The memo holds the reference: otherwise two equal transfers on one blockhash would be the same transaction.
 */
export async function draftSolana(wallet: SolanaWallet, order: TransferOrder): Promise<TransferDraft> {
  const { rpc, settings, reservations, coalesce } = wallet
  const signers = await signersOf(wallet.keyring, order.branch)
  const { feePayer, holder } = signers
  const holderAssets = [holderAsset(holder, order.asset), holderAsset(feePayer, lamportsKey(settings))]
  const reserved = await reservations.reserved(rpc, holderAssets)
  const planning = { ...wallet, ...signers, reserved }
  const makePlan = assetCode(order.asset) === 'native' ? planLamports : planTokens
  const [plan, rent, { value: lifetime }] = await Promise.all([
    makePlan(planning, order),
    readRent(planning, 0n),
    coalesce('blockhash', () => rpc.getLatestBlockhash({ commitment: 'finalized' }).send()),
  ])
  requireFunds(settings, plan, { reserved, rent })
  // Some token accounts require a memo right before the transfer.
  const instructions = [...plan.before, memo(order.reference), ...plan.moves]
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions(instructions, timed),
  )
  await tryOut(wallet, getBase64EncodedWireTransaction(compileTransaction(message)))
  return {
    amount: plan.arrives,
    sign: async () => {
      requireFunds(settings, plan, { reserved, rent })
      const signed = await signTransactionMessageWithSigners(message)
      const transaction = toTxId(getSignatureFromTransaction(signed))
      const expiresHeight = lifetime.lastValidBlockHeight
      reservations.add({ transaction, expiresHeight, takes: plan.takes })
      const bytes = Uint8Array.from(getTransactionEncoder().encode(signed))
      return { transaction, bytes, nonce: null, expiresHeight }
    },
  }
}

/** A message with two signer objects for one address is rejected. */
async function signersOf(keyring: Keyring, branch: number): Promise<Signers> {
  const feePayer = await keyring.solanaSigner(liquidityBranch)
  return { feePayer, holder: branch === liquidityBranch ? feePayer : await keyring.solanaSigner(branch) }
}

/** An account must keep the rent of its bytes or be empty. */
function requireFunds(
  settings: NetworkSettings,
  { takes }: Plan,
  { reserved, rent }: { reserved: ReservedFunds; rent: bigint },
): void {
  const byHolderAsset = Map.groupBy(takes, ({ holder, asset }) => `${holder}/${asset}`)
  for (const [first, ...others] of byHolderAsset.values()) {
    if (first === undefined) continue
    const amount = others.reduce((sum, take) => sum + take.amount, first.amount)
    const free = first.held - reserved.of(first)
    if (free < amount) throw shortOf(settings, { ...first, amount, free })
    const left = free - amount
    if (first.asset === lamportsKey(settings) && left > 0n && left < rent) {
      const problem = `${first.holder} would keep ${left} lamports, less than the minimum of ${rent} for an account`
      throw refused(settings, problem)
    }
  }
}

type SimulationTransaction = Parameters<SolanaNetworkRpc['simulateTransaction']>[0]

async function tryOut({ rpc, settings }: SolanaWallet, wire: string): Promise<void> {
  const config = { encoding: 'base64', commitment: 'confirmed', sigVerify: false } as const
  const { value } = await rpc.simulateTransaction(wire as SimulationTransaction, config).send()
  if (value.err === null) return
  const problem = JSON.stringify(value.err, (_key, part: unknown) =>
    typeof part === 'bigint' ? `${part}` : part,
  )
  throw refused(settings, `the transfer would fail: ${problem}`)
}

function memo(text: string): Instruction {
  return { programAddress: memoProgram, accounts: [], data: new TextEncoder().encode(text) }
}
