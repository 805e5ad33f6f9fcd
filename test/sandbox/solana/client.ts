import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLoadedAccountsDataSizeLimit,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { until } from '../../support/until.ts'

export type Rpc = ReturnType<typeof connect>

export function connect(url: string) {
  return createSolanaRpc(url)
}

/** The raw answer to one call, to see what a library would hide. */
export async function call(url: string, method: string, ...params: unknown[]): Promise<RawAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return (await response.json()) as RawAnswer
}

export type RawAnswer = { result?: unknown; error?: { code: number; message: string; data?: unknown } }

/** An account with lamports that are already final. */
export async function fundedSigner(rpc: Rpc): Promise<KeyPairSigner> {
  const signer = await generateKeyPairSigner()
  const signature = await rpc.requestAirdrop(signer.address, lamports(5_000_000_000n)).send()
  await untilFinal(rpc, signature)
  return signer
}

export async function untilFinal(rpc: Rpc, signature: string): Promise<void> {
  await until(`${signature} is final`, async () => {
    const { value } = await rpc.getSignatureStatuses([signature as Signature]).send()
    return value[0]?.confirmationStatus === 'finalized' || null
  })
}

type Signature = Parameters<Rpc['getTransaction']>[0]

export type Draft = {
  payer: KeyPairSigner
  instructions: readonly Instruction[]
  version?: 'legacy' | 0
  blockhash?: Blockhash
}

/** The wire form of a signed transaction. */
export async function sign(rpc: Rpc, { payer, instructions, version = 0, blockhash }: Draft) {
  const { value } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send()
  const lifetime = blockhash === undefined ? value : { ...value, blockhash }
  const message = pipe(
    createTransactionMessage({ version }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  )
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
}

/** A transaction of version 1, which carries its limits itself. */
export async function signVersion1(rpc: Rpc, { payer, instructions }: Draft) {
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send()
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (draft) => setTransactionMessageComputeUnitLimit(100_000, draft),
    (draft) => setTransactionMessageLoadedAccountsDataSizeLimit(100_000, draft),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  )
  return getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
}

export async function send(rpc: Rpc, draft: Draft): Promise<Signature> {
  return rpc.sendTransaction(await sign(rpc, draft), { encoding: 'base64' }).send()
}

export const anyAddress = 'SysvarC1ock11111111111111111111111111111111' as Address
