import {
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
  type Address as KitAddress,
  lamports,
} from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getTokenSize,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { pino } from 'pino'
import { type Address, type AssetKey, parseAddress } from '../../../src/core/asset.ts'
import { type SandboxSolanaNode, startSolana } from '../../../src/sandbox/solana/node.ts'
import { type Keyring, liquidityBranch, openKeyring } from '../../../src/service/keyring/keyring.ts'
import type {
  NetworkClient,
  SignedTransfer,
  TransferDraft,
  TransferOrder,
} from '../../../src/service/network/port.ts'
import { openSolana } from '../../../src/service/network/solana.ts'
import { connect, fundedSigner, type Rpc, send, untilFinal } from '../../sandbox/solana/client.ts'
import { type Extension, makeMint, mintBytes, token2022Program } from '../../support/token-2022.ts'
import { until } from '../../support/until.ts'
import { networkSettings, seed } from '../fixtures.ts'

export const keyring = openKeyring(seed)
export const sol = 'solana/native' as AssetKey
export const oneSol = 1_000_000_000n

export type MintMade = { code: KitAddress; asset: AssetKey; program: KitAddress }

/** A local Solana on which the keys of the service pay, and a stranger who gives them something to pay with. */
export type SolanaWallet = {
  rpc: Rpc
  url: string
  /** The authority over all mints. */
  outsider: KeyPairSigner
  /** Runs instructions of the stranger, and waits until they are final. */
  pay(instructions: readonly Instruction[]): Promise<void>
  /** Lamports out of nothing, that are final. */
  fund(branch: number, amount: bigint, keys?: Keyring): Promise<void>
  /** A mint of six decimals; without extensions of the older token program. */
  mint(extensions: readonly Extension[] | null): Promise<MintMade>
  /** Tokens out of nothing to the usual account of an owner. */
  give(mint: MintMade, owner: Address, amount: bigint): Promise<void>
  /** The same to another account, that is made for them. */
  giveAside(mint: MintMade, owner: Address, amount: bigint): Promise<void>
  held(mint: MintMade, owner: Address): Promise<bigint>
  lamports(owner: Address): Promise<bigint>
  stop(): Promise<void>
}

export async function startWallet(folder: string): Promise<SolanaWallet> {
  const node: SandboxSolanaNode = await startSolana({ folder, slotMs: 50, log: pino({ level: 'silent' }) })
  const rpc = connect(node.url)
  const outsider = await fundedSigner(rpc)
  const pay = async (instructions: readonly Instruction[]): Promise<void> =>
    untilFinal(rpc, await send(rpc, { payer: outsider, instructions }))
  const giveTo = async (
    make: Make,
    mint: MintMade,
    { owner, amount }: { owner: Address; amount: bigint },
  ) => {
    const { token, instructions } = await make(mint, owner as string as KitAddress)
    const minted = { mint: mint.code, token, mintAuthority: outsider, amount }
    await pay([...instructions, getMintToInstruction(minted, { programAddress: mint.program })])
  }
  return {
    rpc,
    url: node.url,
    outsider,
    pay,
    async fund(branch, amount, keys = keyring) {
      const { address } = await keys.solanaSigner(branch)
      await untilFinal(rpc, await rpc.requestAirdrop(address, lamports(amount)).send())
    },
    async mint(extensions) {
      const made = await mintInstructions(rpc, outsider, extensions)
      await pay(made.instructions)
      const code = made.mint.address
      return { code, asset: `solana/${code}` as AssetKey, program: made.program }
    },
    give: (mint, owner, amount) => giveTo(usualAccount(outsider), mint, { owner, amount }),
    giveAside: (mint, owner, amount) => giveTo(asideAccount(rpc, outsider), mint, { owner, amount }),
    async held({ code: mint, program: tokenProgram }, to) {
      const owner = to as string as KitAddress
      const [token] = await findAssociatedTokenPda({ owner, mint, tokenProgram })
      return BigInt((await rpc.getTokenAccountBalance(token).send()).value.amount)
    },
    lamports: async (owner) => (await rpc.getBalance(owner as string as KitAddress).send()).value,
    stop: () => node.stop(),
  }
}

type Make = (mint: MintMade, owner: KitAddress) => Promise<{ token: KitAddress; instructions: Instruction[] }>

function usualAccount(payer: KeyPairSigner): Make {
  return async ({ code: mint, program: tokenProgram }, owner) => {
    const [token] = await findAssociatedTokenPda({ owner, mint, tokenProgram })
    const account = { payer, ata: token, owner, mint, tokenProgram }
    return { token, instructions: [getCreateAssociatedTokenIdempotentInstruction(account)] }
  }
}

/** Long enough for what a fee adds to an account of Token-2022. */
const asideBytes = 200n

function asideAccount(rpc: Rpc, payer: KeyPairSigner): Make {
  return async ({ code: mint, program: programAddress }, owner) => {
    const token = await generateKeyPairSigner()
    const space = programAddress === TOKEN_PROGRAM_ADDRESS ? BigInt(getTokenSize()) : asideBytes
    const rent = await rpc.getMinimumBalanceForRentExemption(space).send()
    const account = { payer, newAccount: token, lamports: rent, space, programAddress }
    const held = getInitializeAccount3Instruction({ account: token.address, mint, owner }, { programAddress })
    return { token: token.address, instructions: [getCreateAccountInstruction(account), held] }
  }
}

async function mintInstructions(rpc: Rpc, payer: KeyPairSigner, extensions: readonly Extension[] | null) {
  const mint = await generateKeyPairSigner()
  const space = mintBytes(extensions ?? [])
  const program = extensions === null ? TOKEN_PROGRAM_ADDRESS : token2022Program
  const rent = await rpc.getMinimumBalanceForRentExemption(space).send()
  const wanted = {
    mint: mint.address,
    decimals: 6,
    mintAuthority: payer.address,
    freezeAuthority: payer.address,
  }
  const made =
    extensions === null ? [getInitializeMint2Instruction(wanted)] : makeMint(mint, payer.address, extensions)
  const account = { payer, newAccount: mint, lamports: rent, space, programAddress: program }
  return { mint, program, instructions: [getCreateAccountInstruction(account), ...made] }
}

/** Opens the network with these mints, remembering nothing. */
export function openNetwork(url: string, mints: readonly MintMade[], keys = keyring): NetworkClient {
  const tokens = [
    { symbol: 'SOL', decimals: 9, code: 'native' },
    ...mints.map(({ code }, place) => ({ symbol: `T${place}`, decimals: 6, code })),
  ]
  return openSolana(networkSettings({ name: 'solana', family: 'solana', chainId: null, url, tokens }), keys)
}

/** From the liquidity wallet to somebody new. */
export async function newOrder(changes: Partial<TransferOrder>): Promise<TransferOrder> {
  const { address } = await generateKeyPairSigner()
  const to = parseAddress('solana', address)
  return {
    branch: liquidityBranch,
    to,
    asset: sol,
    amount: oneSol,
    reference: to,
    feeFrom: 'payer',
    ...changes,
  }
}

export async function land(network: NetworkClient, draft: TransferDraft): Promise<SignedTransfer> {
  const signed = await draft.sign(null)
  await network.send(signed.bytes)
  await until(`${signed.transaction} has landed`, async () => {
    const outcome = await network.outcome(signed)
    if (outcome.kind === 'open') return null
    if (outcome.kind !== 'landed') throw new Error(`${signed.transaction} is ${outcome.kind}`)
    return outcome
  })
  return signed
}
