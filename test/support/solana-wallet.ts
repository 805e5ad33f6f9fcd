import {
  type Address,
  appendTransactionMessageInstructions,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  getTokenSize,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { until } from './until.ts'

type Rpc = ReturnType<typeof createSolanaRpc>

/** A payer with lamports and tokens of a mint of its own. Every method returns when its transaction is confirmed. */
export type SolanaWallet = {
  signer: KeyPairSigner
  mint: Address
  /** The account that holds its tokens. */
  tokens: Address
  send(instructions: readonly Instruction[]): Promise<Signature>
  payTokens(account: Address, amount: bigint): Promise<Signature>
  payLamports(to: Address, amount: bigint): Promise<Signature>
  /** Gives lamports and then fails, so that nothing moves but the fee. */
  sendFailing(to: Address): Promise<Signature>
  createAssociatedAccount(owner: Address): Promise<Address>
  /** A token account that is not the associated one. */
  createTokenAccount(owner: Address): Promise<Address>
  /** True once it is final, null before. */
  isFinal(signature: string): Promise<true | null>
}

export async function openWallet(url: string): Promise<SolanaWallet> {
  const rpc = createSolanaRpc(url)
  const signer = await generateKeyPairSigner()
  const airdrop = await rpc.requestAirdrop(signer.address, lamports(1_000_000_000_000n)).send()
  await until('the airdrop', () => reached(rpc, airdrop, 'confirmed'))
  const send: SolanaWallet['send'] = (instructions) => sendAndConfirm(rpc, signer, instructions)
  const createAssociatedAccount = async (owner: Address, of: Address) => {
    const make = { payer: signer, owner, mint: of }
    await send([await getCreateAssociatedTokenIdempotentInstructionAsync(make)])
    const [account] = await findAssociatedTokenPda({ owner, mint: of, tokenProgram: TOKEN_PROGRAM_ADDRESS })
    return account
  }
  const mint = await createMint(rpc, signer, send)
  const tokens = await createAssociatedAccount(signer.address, mint)
  await send([getMintToInstruction({ mint, token: tokens, mintAuthority: signer, amount: 10n ** 15n })])
  const payLamports = (to: Address, amount: bigint) =>
    getTransferSolInstruction({ source: signer, destination: to, amount })
  const payTokens = (destination: Address, amount: bigint) =>
    getTransferInstruction({ source: tokens, destination, authority: signer, amount })
  return {
    signer,
    mint,
    tokens,
    send,
    payTokens: (account, amount) => send([payTokens(account, amount)]),
    payLamports: (to, amount) => send([payLamports(to, amount)]),
    sendFailing: (to) => send([payLamports(to, 10n ** 9n), payTokens(tokens, 10n ** 18n)]),
    createAssociatedAccount: (owner) => createAssociatedAccount(owner, mint),
    createTokenAccount: async (owner) => {
      const account = await generateKeyPairSigner()
      const initialize = getInitializeAccount3Instruction({ account: account.address, mint, owner })
      await send([await allocate(rpc, { payer: signer, account, bytes: getTokenSize() }), initialize])
      return account.address
    },
    isFinal: (signature) => reached(rpc, signature as Signature, 'finalized'),
  }
}

async function createMint(rpc: Rpc, payer: KeyPairSigner, send: SolanaWallet['send']): Promise<Address> {
  const account = await generateKeyPairSigner()
  const made = { mint: account.address, decimals: 6, mintAuthority: payer.address }
  await send([
    await allocate(rpc, { payer, account, bytes: getMintSize() }),
    getInitializeMint2Instruction(made),
  ])
  return account.address
}

type Allocation = { payer: KeyPairSigner; account: KeyPairSigner; bytes: number }

async function allocate(rpc: Rpc, { payer, account, bytes }: Allocation): Promise<Instruction> {
  const rent = await rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send()
  return getCreateAccountInstruction({
    payer,
    newAccount: account,
    lamports: rent,
    space: bytes,
    programAddress: TOKEN_PROGRAM_ADDRESS,
  })
}

async function sendAndConfirm(
  rpc: Rpc,
  signer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<Signature> {
  const { value: lifetime } = await rpc.getLatestBlockhash().send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(signer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
  )
  const signed = await signTransactionMessageWithSigners(message)
  const wire = getBase64EncodedWireTransaction(signed)
  await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
  const signature = getSignatureFromTransaction(signed)
  await until('confirmation', () => reached(rpc, signature, 'confirmed'))
  return signature
}

async function reached(
  rpc: Rpc,
  signature: Signature,
  wanted: 'confirmed' | 'finalized',
): Promise<true | null> {
  const { value } = await rpc.getSignatureStatuses([signature]).send()
  const status = value[0]?.confirmationStatus
  return status === 'finalized' || status === wanted ? true : null
}
