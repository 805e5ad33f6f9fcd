import { createHash } from 'node:crypto'
import {
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  type createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  type Address as KitAddress,
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
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToCheckedInstruction,
  getTokenDecoder,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { type Address, type AssetKey, assetCode, type TxId, toTxId } from '../core/asset.ts'
import { type Faucet, testTokens, tokenDecimals } from './faucet.ts'
import { uniqueInstruction } from './solana/faucet.ts'

/** The same on every machine. */
export type SolanaSigners = {
  authority: KeyPairSigner
  payer: KeyPairSigner
  mints: readonly KeyPairSigner[]
}

const payerTokensMin = 10n ** 15n

export async function solanaSigners(): Promise<SolanaSigners> {
  const mints = testTokens.map(({ symbol }) => sandboxSigner(`${symbol} mint`))
  const [authority, payer] = await Promise.all([sandboxSigner('authority'), sandboxSigner('payer')])
  return { authority, payer, mints: await Promise.all(mints) }
}

export function solanaGenesis({ authority, payer }: SolanaSigners): Map<KitAddress, bigint> {
  const lamportsEach = 10_000_000n * 1_000_000_000n
  return new Map([authority, payer].map(({ address }) => [address, lamportsEach]))
}

export async function createMints(rpc: SandboxSolanaRpc, signers: SolanaSigners): Promise<void> {
  const { authority, payer, mints } = signers
  const space = BigInt(getMintSize())
  const rent = await rpc.getMinimumBalanceForRentExemption(space).send()
  for (const mint of mints) {
    const { value } = await rpc
      .getAccountInfo(mint.address, { encoding: 'base64', commitment: 'processed' })
      .send()
    if (value !== null) continue
    const programAddress = TOKEN_PROGRAM_ADDRESS
    await sendInstructions(rpc, authority, [
      getCreateAccountInstruction({
        payer: authority,
        newAccount: mint,
        lamports: rent,
        space,
        programAddress,
      }),
      getInitializeMint2Instruction({
        mint: mint.address,
        decimals: tokenDecimals,
        mintAuthority: authority.address,
      }),
      ...(await mintInstructions(authority, {
        mint: mint.address,
        owner: payer.address,
        amount: payerTokensMin,
      })),
    ])
  }
}

export function solanaFaucet(rpc: SandboxSolanaRpc, { authority, payer }: SolanaSigners): Faucet {
  return {
    payer: payer.address as string as Address,
    async fund(to, asset, amount) {
      const code = assetCode(asset)
      const tokens = { mint: code as string as KitAddress, owner: to as string as KitAddress, amount }
      const instructions =
        code === 'native'
          ? [lamportTransfer(authority, to, amount)]
          : await mintInstructions(authority, tokens)
      await sendInstructions(rpc, authority, instructions)
    },
    async pay({ asset, to, amount }) {
      const code = assetCode(asset)
      const tokens = { mint: code as string as KitAddress, owner: to as string as KitAddress, amount }
      const instructions =
        code === 'native' ? [lamportTransfer(payer, to, amount)] : await transferInstructions(payer, tokens)
      return sendInstructions(rpc, payer, instructions)
    },
    landed: (transaction) => slotOf(rpc, transaction),
    balance: (of, asset) => balanceOf(rpc, of, asset),
  }
}

/** The local chain has run a transaction before it accepts it. */
async function slotOf(rpc: SandboxSolanaRpc, transaction: TxId): Promise<bigint> {
  const { value } = await rpc.getSignatureStatuses([transaction as string as Signature]).send()
  const [status] = value
  if (!status || status.err !== null) throw new Error(`transaction ${transaction} failed`)
  return status.slot
}

async function balanceOf(rpc: SandboxSolanaRpc, of: Address, asset: AssetKey): Promise<bigint> {
  const code = assetCode(asset)
  const owner = of as string as KitAddress
  if (code === 'native') return (await rpc.getBalance(owner, { commitment: 'processed' }).send()).value
  const account = await associatedAccount(code as string as KitAddress, owner)
  const { value } = await rpc.getAccountInfo(account, { encoding: 'base64', commitment: 'processed' }).send()
  return value === null ? 0n : getTokenDecoder().decode(Buffer.from(value.data[0], 'base64')).amount
}

function lamportTransfer(source: KeyPairSigner, to: Address, amount: bigint) {
  const destination = to as string as KitAddress
  return getTransferSolInstruction({ source, destination, amount: lamports(amount) })
}

type TokenCredit = { mint: KitAddress; owner: KitAddress; amount: bigint }

async function mintInstructions(authority: KeyPairSigner, { mint, owner, amount }: TokenCredit) {
  const token = await associatedAccount(mint, owner)
  return [
    getCreateAssociatedTokenIdempotentInstruction({ payer: authority, ata: token, owner, mint }),
    getMintToCheckedInstruction({ mint, token, mintAuthority: authority, amount, decimals: tokenDecimals }),
  ]
}

async function transferInstructions(payer: KeyPairSigner, { mint, owner, amount }: TokenCredit) {
  const [source, destination] = await Promise.all([
    associatedAccount(mint, payer.address),
    associatedAccount(mint, owner),
  ])
  return [
    getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner, mint }),
    getTransferCheckedInstruction({
      source,
      mint,
      destination,
      authority: payer,
      amount,
      decimals: tokenDecimals,
    }),
  ]
}

async function associatedAccount(mint: KitAddress, owner: KitAddress): Promise<KitAddress> {
  const [address] = await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS })
  return address
}

export type SandboxSolanaRpc = ReturnType<typeof createSolanaRpc>

/** When this returns, the node has run the transaction. */
async function sendInstructions(
  rpc: SandboxSolanaRpc,
  payer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<TxId> {
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions([uniqueInstruction(), ...instructions], draft),
  )
  const wire = getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message))
  return toTxId(await rpc.sendTransaction(wire, { encoding: 'base64' }).send())
}

/** The same key for the same name on every machine: for local chains only. */
export function sandboxSigner(name: string): Promise<KeyPairSigner> {
  const seed = createHash('sha256').update(`depositd sandbox ${name}`).digest()
  return createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(seed))
}
