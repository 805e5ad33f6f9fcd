import {
  appendTransactionMessageInstructions,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { assetCode, toTxId } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { connections, defaultBounds, type ReaderOptions } from '../options.ts'
import { createPool } from '../pool.ts'
import { readMint } from '../solana/accounts.ts'
import { type Cluster, requireCluster } from '../solana/identity.ts'
import { ask, openNode, refusal, type SolanaNode, toKit } from '../solana/node.ts'
import type { NetworkSettings } from '../types.ts'
import type { Payer, PaymentOrder } from './payment.ts'
import { readKey } from './read-key.ts'

/**
 * Pays lamports, and tokens without a transfer fee. The first payment to an address also pays for its token account.
 */
export function createSolanaPayer(settings: NetworkSettings, options: ReaderOptions = {}): Payer {
  const cluster: Cluster = { genesis: settings.genesisHash ?? null }
  const pool = createPool({
    nodes: connections(settings, options).map(openNode),
    restMs: options.bounds?.restMs ?? defaultBounds.restMs,
    identify: (node) => requireCluster(node, settings, cluster),
  })
  return async (order, { key, onSigned }) => {
    const payer = await createKeyPairSignerFromBytes(readKey(key, settings))
    const transaction = await pool.onFirst((node) => sign(node, payer, order))
    const wire = getBase64EncodedWireTransaction(transaction)
    await pool.onFirst((node) => requireSuccess(node, wire))
    await onSigned(toTxId(getSignatureFromTransaction(transaction)))
    // The same signed transaction can safely go to another node: it is included at most once.
    await pool.onFirst((node) =>
      ask(node, 'sending a payment', (rpc) => rpc.sendTransaction(wire, { encoding: 'base64' }).send()),
    )
  }
}

/**
 * Simulates the payment, so that a failure is reported before the transaction is recorded. @throws Fault
 * `remote_failed`
 */
async function requireSuccess(node: SolanaNode, wire: Base64Transaction): Promise<void> {
  const { value } = await ask(node, 'trying a payment', (rpc) =>
    rpc.simulateTransaction(wire, { encoding: 'base64', sigVerify: true }).send(),
  )
  if (value.err !== null)
    throw refusal(
      node,
      'trying a payment',
      JSON.stringify(value.err, (_, part: unknown) => exact(part)),
    )
}

type Base64Transaction = ReturnType<typeof getBase64EncodedWireTransaction>

function exact(part: unknown): unknown {
  return typeof part === 'bigint' ? part.toString() : part
}

async function sign(node: SolanaNode, payer: KeyPairSigner, order: PaymentOrder) {
  const instructions = await instructionsOf(node, payer, order)
  const { value: lifetime } = await ask(node, 'latest blockhash', (rpc) =>
    rpc.getLatestBlockhash({ commitment: 'finalized' }).send(),
  )
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  )
  return signTransactionMessageWithSigners(message)
}

async function instructionsOf(
  node: SolanaNode,
  payer: KeyPairSigner,
  { asset, to, amount }: PaymentOrder,
): Promise<Instruction[]> {
  const code = assetCode(asset.key)
  if (code === 'native') {
    return [getTransferSolInstruction({ source: payer, destination: toKit(to), amount: lamports(amount) })]
  }
  const program = (await readMint(node, code))?.program
  if (program === undefined)
    throw new Fault('settings_bad', { faults: [`asset ${asset.symbol}: ${code} is no mint (${node.name})`] })
  const mint = toKit(code)
  const accountOf = async (owner: typeof mint) =>
    (await findAssociatedTokenPda({ owner, mint, tokenProgram: program }))[0]
  const [source, destination] = await Promise.all([accountOf(payer.address), accountOf(toKit(to))])
  const account = { payer, ata: destination, owner: toKit(to), mint, tokenProgram: program }
  const transfer = { source, mint, destination, authority: payer, amount, decimals: asset.decimals }
  return [
    getCreateAssociatedTokenIdempotentInstruction(account),
    getTransferCheckedInstruction(transfer, { programAddress: program }),
  ]
}
