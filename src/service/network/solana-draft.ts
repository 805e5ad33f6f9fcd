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
import type { NetworkSettings } from '../../chain/port.ts'
import { assetCode, toTxId } from '../../core/asset.ts'
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import type { RequestCoalescer } from '../running/sharing.ts'
import type { TransferDraft, TransferOrder } from './port.ts'
import type { SolanaNetworkRpc } from './solana.ts'
import {
  lamportsKey,
  type Plan,
  planLamports,
  planTokens,
  purseOf,
  readRent,
  refused,
  type Signers,
  shortOf,
} from './solana-plan.ts'
import type { ReservedFunds, SolanaPromises } from './solana-promises.ts'

export type SolanaPurse = {
  rpc: SolanaNetworkRpc
  settings: NetworkSettings
  keyring: Keyring
  promises: SolanaPromises
  /** Drafts are made side by side, and ask the same of the node. */
  share: RequestCoalescer
}

const memoProgram = toSolanaAddress('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/**
 * Fails where the transfer is expected to fail, so that no fee is spent on it, and signing fails where what was
 * signed meanwhile leaves too little. The reference goes into a memo: without it two equal transfers signed on one
 * blockhash would be one and the same transaction, and only one of them would be paid.
 */
export async function draftSolana(purse: SolanaPurse, order: TransferOrder): Promise<TransferDraft> {
  const { rpc, settings, promises, share } = purse
  const signers = await signersOf(purse.keyring, order.branch)
  const { feePayer, holder } = signers
  const purses = [purseOf(holder, order.asset), purseOf(feePayer, lamportsKey(settings))]
  const spoken = await promises.spoken(rpc, purses)
  const planning = { ...purse, ...signers, spoken }
  const makePlan = assetCode(order.asset) === 'native' ? planLamports : planTokens
  const [plan, rent, { value: lifetime }] = await Promise.all([
    makePlan(planning, order),
    readRent(planning, 0n),
    share('blockhash', () => rpc.getLatestBlockhash({ commitment: 'finalized' }).send()),
  ])
  requireFunds(settings, plan, { spoken, rent })
  // Some accounts take tokens only right after a memo.
  const instructions = [...plan.before, memo(order.reference), ...plan.moves]
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (timed) => appendTransactionMessageInstructions(instructions, timed),
  )
  await tryOut(purse, getBase64EncodedWireTransaction(compileTransaction(message)))
  return {
    amount: plan.arrives,
    sign: async () => {
      requireFunds(settings, plan, { spoken, rent })
      const signed = await signTransactionMessageWithSigners(message)
      const transaction = toTxId(getSignatureFromTransaction(signed))
      const expiresHeight = lifetime.lastValidBlockHeight
      promises.note({ transaction, expiresHeight, takes: plan.takes })
      const bytes = Uint8Array.from(getTransactionEncoder().encode(signed))
      return { transaction, bytes, nonce: null, expiresHeight }
    },
  }
}

/** One address is one signer object: a message with two of them for one address is refused. */
async function signersOf(keyring: Keyring, branch: number): Promise<Signers> {
  const feePayer = await keyring.solanaSigner(liquidityBranch)
  return { feePayer, holder: branch === liquidityBranch ? feePayer : await keyring.solanaSigner(branch) }
}

/** An account must hold the rent of its bytes or nothing at all. */
function requireFunds(
  settings: NetworkSettings,
  { takes }: Plan,
  { spoken, rent }: { spoken: ReservedFunds; rent: bigint },
): void {
  const byPurse = Map.groupBy(takes, ({ holder, asset }) => `${holder}/${asset}`)
  for (const [first, ...others] of byPurse.values()) {
    if (first === undefined) continue
    const amount = others.reduce((sum, take) => sum + take.amount, first.amount)
    const free = first.held - spoken.of(first)
    if (free < amount) throw shortOf(settings, { ...first, amount, free })
    const left = free - amount
    if (first.asset === lamportsKey(settings) && left > 0n && left < rent) {
      const problem = `${first.holder} would be left with ${left} lamports, less than the ${rent} of an account`
      throw refused(settings, problem)
    }
  }
}

type SimulationTransaction = Parameters<SolanaNetworkRpc['simulateTransaction']>[0]

async function tryOut({ rpc, settings }: SolanaPurse, wire: string): Promise<void> {
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
