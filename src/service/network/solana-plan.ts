import {
  AccountRole,
  type AccountSignerMeta,
  type Instruction,
  type KeyPairSigner,
  type Address as KitAddress,
  address as toSolanaAddress,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { type Address, assetCode, assetKey, type NetworkSettings, parseAddress } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import type { RequestCoalescer } from '../running/requests.ts'
import type { TransferOrder } from './port.ts'
import type { SolanaNetworkRpc } from './solana-accounts.ts'
import {
  feeOn,
  lamportsOf,
  type MintTransferRules,
  readMint,
  sentFor,
  sumOf,
  type TokenAccount,
  type TransferFee,
  token2022Program,
  tokenAccountsOf,
} from './solana-accounts.ts'
import type { HolderAsset, ReservedFunds, Take } from './solana-reservations.ts'

/** The liquidity wallet always pays the fee and the rent. */
export type Signers = { feePayer: KeyPairSigner; holder: KeyPairSigner }

export type SolanaPlanContext = {
  rpc: SolanaNetworkRpc
  settings: NetworkSettings
  coalesce: RequestCoalescer
  reserved: ReservedFunds
} & Signers

export type Plan = {
  before: readonly Instruction[]
  moves: readonly Instruction[]
  arrives: bigint
  takes: readonly (Take & { held: bigint })[]
}

const lamportsPerSignature = 5000n
const tokenAccountBytesMax = 256n

export function holderAsset(signer: KeyPairSigner, asset: HolderAsset['asset']): HolderAsset {
  return { holder: parseAddress('solana', signer.address), asset }
}

export function lamportsKey({ name }: NetworkSettings): HolderAsset['asset'] {
  return assetKey(name, 'native')
}

export async function planLamports(planning: SolanaPlanContext, order: TransferOrder): Promise<Plan> {
  const { rpc, settings, reserved, holder } = planning
  const from = holderAsset(holder, lamportsKey(settings))
  const [held, there, rent, fee] = await Promise.all([
    lamportsOf(rpc, { ...from, slot: reserved.slot }),
    readPayee(planning, order.to),
    readRent(planning, 0n),
    feeOf(planning, 0n),
  ])
  if (there + order.amount < rent) {
    const problem = `${order.to} does not exist, and ${order.amount} lamports are less than the minimum of ${rent} for an account`
    throw refused(settings, problem)
  }
  const destination = toSolanaAddress(order.to)
  return {
    before: [],
    moves: [getTransferSolInstruction({ source: holder, destination, amount: order.amount })],
    arrives: order.amount,
    takes: [{ ...from, amount: order.amount, held }, fee],
  }
}

export async function planTokens(planning: SolanaPlanContext, order: TransferOrder): Promise<Plan> {
  const { rpc, settings, coalesce, reserved, holder } = planning
  const code = assetCode(order.asset) as Address
  const mint = await coalesce(`mint ${code}`, () => readMint(rpc, code))
  if (mint === null) throw refused(settings, `${code} is not a mint`)
  const from = holderAsset(holder, order.asset)
  const ends = { ...planning, mint: code, to: order.to }
  const destination = await usualAccount(ends, mint)
  const [accounts, existing, epoch] = await Promise.all([
    tokenAccountsOf(rpc, code, { ...from, slot: reserved.slot }),
    rpc.getAccountInfo(destination, { encoding: 'base64', commitment: 'confirmed' }).send(),
    mint.feeIn === null ? { epoch: 0n } : coalesce('epoch', () => rpc.getEpochInfo().send()),
    readPayee(planning, order.to),
  ])
  const [held, fee] = [sumOf(accounts), mint.feeIn?.(epoch.epoch) ?? noFee]
  const parts = gather(accounts, order, fee)
  if (parts === null) {
    if (held >= order.amount && accounts.length > partsMax) {
      const problem = `${from.holder} holds its ${order.asset} in ${accounts.length} accounts; one transfer can use ${partsMax}`
      throw refused(settings, problem)
    }
    throw shortOf(settings, { ...from, amount: order.amount, free: held })
  }
  const sent = parts.reduce((sum, part) => sum + part.sent, 0n)
  return {
    before: [accountMaker(ends, mint, destination)],
    moves: moves(ends, mint, { destination, parts }),
    arrives: parts.reduce((sum, part) => sum + part.sent - part.fee, 0n),
    takes: [
      { ...from, amount: sent, held },
      await feeOf(planning, existing.value === null ? tokenAccountBytesMax : 0n),
    ],
  }
}

/** Rejects programs and token accounts: as owners they cannot move what they receive. */
async function readPayee({ rpc, settings }: SolanaPlanContext, to: Address): Promise<bigint> {
  const config = { encoding: 'base64', commitment: 'confirmed' } as const
  const { value } = await rpc.getAccountInfo(toSolanaAddress(to), config).send()
  if (value === null) return 0n
  if (value.executable) throw refused(settings, `${to} is a program`)
  if (value.owner === TOKEN_PROGRAM_ADDRESS || value.owner === token2022Program)
    throw refused(settings, `${to} is an account of a token program, not a wallet`)
  return value.lamports
}

/** Zero bytes: no account is created. */
async function feeOf(planning: SolanaPlanContext, bytes: bigint): Promise<Take & { held: bigint }> {
  const { rpc, settings, coalesce, reserved, feePayer, holder } = planning
  const wallet = holderAsset(feePayer, lamportsKey(settings))
  const { slot } = reserved
  const [held, rent] = await Promise.all([
    // A balance of that slot or later answers all of these queries.
    coalesce(`fee payer at ${slot}`, () => lamportsOf(rpc, { ...wallet, slot })),
    bytes === 0n ? 0n : readRent(planning, bytes),
  ])
  const signatures = feePayer.address === holder.address ? 1n : 2n
  return { ...wallet, amount: lamportsPerSignature * signatures + rent, held }
}

export function readRent(
  { rpc, coalesce }: Pick<SolanaPlanContext, 'rpc' | 'coalesce'>,
  bytes: bigint,
): Promise<bigint> {
  return coalesce(`rent of ${bytes}`, () => rpc.getMinimumBalanceForRentExemption(bytes).send())
}

export function refused({ name }: NetworkSettings, problem: string): Fault {
  return new Fault('remote_failed', { what: `paying on ${name}`, problem })
}

export function shortOf(
  settings: NetworkSettings,
  { holder, asset, amount, free }: Take & { free: bigint },
): Fault {
  return refused(
    settings,
    `${holder} has insufficient funds: ${free} of ${asset} available, ${amount} needed`,
  )
}

/** `sent` includes the withheld `fee`. */
type TokenAccountDebit = { account: KitAddress; sent: bigint; fee: bigint }

/** More would not fit into one transaction. */
const partsMax = 8

const noFee: TransferFee = { basisPoints: 0n, most: 0n }

/**
 * Splits across token accounts. With `feeFrom: 'amount'`, the amount leaves the accounts; otherwise it arrives, and the
 * token's fee is on top. Null if the accounts hold too little.
 */
function gather(
  accounts: readonly TokenAccount[],
  { amount, feeFrom }: Pick<TransferOrder, 'amount' | 'feeFrom'>,
  fee: TransferFee,
): readonly TokenAccountDebit[] | null {
  const parts: TokenAccountDebit[] = []
  let left = amount
  for (const { account, amount: held } of accounts.slice(0, partsMax)) {
    const wanted = feeFrom === 'amount' ? left : sentFor(fee, left)
    const sent = held < wanted ? held : wanted
    if (sent === 0n) break
    const part = { account, sent, fee: feeOn(fee, sent) }
    parts.push(part)
    left -= feeFrom === 'amount' ? sent : sent - part.fee
  }
  return left === 0n ? parts : null
}

type SolanaTransferParties = { mint: Address; to: Address; feePayer: KeyPairSigner; holder: KeyPairSigner }

/** The associated account: one per owner and mint. */
async function usualAccount(
  { mint, to }: Pick<SolanaTransferParties, 'mint' | 'to'>,
  { program }: MintTransferRules,
): Promise<KitAddress> {
  const [account] = await findAssociatedTokenPda({
    owner: toSolanaAddress(to),
    mint: toSolanaAddress(mint),
    tokenProgram: program,
  })
  return account
}

function accountMaker(
  { mint, to, feePayer }: SolanaTransferParties,
  { program }: MintTransferRules,
  account: KitAddress,
): Instruction {
  return getCreateAssociatedTokenIdempotentInstruction({
    payer: feePayer,
    ata: account,
    owner: toSolanaAddress(to),
    mint: toSolanaAddress(mint),
    tokenProgram: program,
  })
}

/** The instruction states the expected transfer fee, so that no other fee is charged. */
function moves(
  { mint, holder }: SolanaTransferParties,
  { program, decimals, feeIn }: MintTransferRules,
  { destination, parts }: { destination: KitAddress; parts: readonly TokenAccountDebit[] },
): Instruction[] {
  const common = { mint: toSolanaAddress(mint), destination, authority: holder, decimals }
  return parts.map(({ account: source, sent: amount, fee }) =>
    feeIn === null
      ? getTransferCheckedInstruction({ ...common, source, amount }, { programAddress: program })
      : transferWithFee(program, { ...common, source, amount, fee }),
  )
}

type TransferWithFeeArgs = {
  source: KitAddress
  mint: KitAddress
  destination: KitAddress
  authority: KeyPairSigner
  amount: bigint
  decimals: number
  fee: bigint
}

/** Bytes: 26, 1, amount (u64), decimals (u8), fee (u64); integers are little-endian. */
function transferWithFee(programAddress: KitAddress, transfer: TransferWithFeeArgs): Instruction {
  const { source, mint, destination, authority, amount, decimals, fee } = transfer
  const data = Buffer.alloc(19)
  data.writeUInt8(26, 0)
  data.writeUInt8(1, 1)
  data.writeBigUInt64LE(amount, 2)
  data.writeUInt8(decimals, 10)
  data.writeBigUInt64LE(fee, 11)
  const signer: AccountSignerMeta = {
    address: authority.address,
    role: AccountRole.READONLY_SIGNER,
    signer: authority,
  }
  const accounts = [
    { address: source, role: AccountRole.WRITABLE },
    { address: mint, role: AccountRole.READONLY },
    { address: destination, role: AccountRole.WRITABLE },
    signer,
  ]
  return { programAddress, accounts, data: Uint8Array.from(data) }
}
