import {
  getBase64Encoder,
  type Address as KitAddress,
  type Rpc,
  type SolanaRpcApi,
  address as toSolanaAddress,
} from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Address, AssetCode } from '../../core/asset.ts'

export type SolanaNetworkRpc = Rpc<SolanaRpcApi>

export type TokenAccount = { account: KitAddress; amount: bigint }

type HolderAtSlot = { holder: Address; slot?: bigint }

export async function lamportsOf(
  rpc: SolanaNetworkRpc,
  { holder, slot = 0n }: HolderAtSlot,
): Promise<bigint> {
  const config = { commitment: 'confirmed', minContextSlot: slot } as const
  return (await rpc.getBalance(toSolanaAddress(holder), config).send()).value
}

const amountOffset = 64
const stateOffset = 108
const usableState = 1

/** Largest first. Anyone can create further accounts for a holder. */
export async function tokenAccountsOf(
  rpc: SolanaNetworkRpc,
  mint: Address,
  { holder, slot = 0n }: HolderAtSlot,
): Promise<readonly TokenAccount[]> {
  const config = { commitment: 'confirmed', encoding: 'base64', minContextSlot: slot } as const
  const { value } = await rpc
    .getTokenAccountsByOwner(toSolanaAddress(holder), { mint: toSolanaAddress(mint) }, config)
    .send()
  return value
    .map(({ pubkey, account }) => ({
      account: pubkey,
      data: Buffer.from(getBase64Encoder().encode(account.data[0])),
    }))
    .filter(({ data }) => data[stateOffset] === usableState)
    .map(({ account, data }) => ({ account, amount: data.readBigUInt64LE(amountOffset) }))
    .toSorted((left, right) => (left.amount > right.amount ? -1 : 1))
}

export async function readSolanaBalance(
  rpc: SolanaNetworkRpc,
  holder: Address,
  code: AssetCode,
): Promise<bigint> {
  return code === 'native' ? lamportsOf(rpc, { holder }) : sumOf(await tokenAccountsOf(rpc, code, { holder }))
}

export function sumOf(accounts: readonly TokenAccount[]): bigint {
  return accounts.reduce((sum, { amount }) => sum + amount, 0n)
}

export const token2022Program = toSolanaAddress('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

export type MintTransferRules = {
  program: KitAddress
  decimals: number
  /** Null if the token has none. */
  feeIn: ((epoch: bigint) => TransferFee) | null
  /** Why plain transfers cannot move its tokens; null if they can. */
  obstacle: string | null
}

/** Null if the address is not a mint of either token program. */
export async function readMint(rpc: SolanaNetworkRpc, code: Address): Promise<MintTransferRules | null> {
  const config = { commitment: 'confirmed', encoding: 'base64' } as const
  const { value } = await rpc.getAccountInfo(toSolanaAddress(code), config).send()
  const program = value?.owner
  if (program !== TOKEN_PROGRAM_ADDRESS && program !== token2022Program) return null
  const data = Buffer.from(getBase64Encoder().encode(value?.data[0] ?? ''))
  const isMint = data.length === mintLength || data[kindOffset] === mintKind
  if (!isMint || data[initializedOffset] !== 1) return null
  const extensions = readExtensions(data)
  return {
    program,
    decimals: data.readUInt8(decimalsOffset),
    feeIn: feesOf(extensions.get(extensionKinds.transferFee)),
    obstacle: obstacleIn(extensions),
  }
}

const mintLength = 82
const decimalsOffset = 44
const initializedOffset = 45
/** After the longest base layout, Token-2022 stores the account type and the extensions: kind, length, data. */
const kindOffset = 165
const mintKind = 1
const extensionKinds = { transferFee: 1, nonTransferable: 9, transferHook: 14 }

function readExtensions(data: Buffer): ReadonlyMap<number, Buffer> {
  const extensions = new Map<number, Buffer>()
  let offset = kindOffset + 1
  while (offset + 4 <= data.length) {
    const [kind, length] = [data.readUInt16LE(offset), data.readUInt16LE(offset + 2)]
    if (kind === 0) break
    extensions.set(kind, data.subarray(offset + 4, offset + 4 + length))
    offset += 4 + length
  }
  return extensions
}

/** Two fees follow two authorities and a sum. The older one applies until the epoch of the newer one. */
const olderOffset = 72
const newerOffset = 90

function feesOf(extension: Buffer | undefined): MintTransferRules['feeIn'] {
  if (extension === undefined) return null
  const [older, newer] = [readFee(extension, olderOffset), readFee(extension, newerOffset)]
  return (epoch) => (epoch >= newer.epoch ? newer : older)
}

function readFee(extension: Buffer, offset: number): TransferFee & { epoch: bigint } {
  return {
    epoch: extension.readBigUInt64LE(offset),
    most: extension.readBigUInt64LE(offset + 8),
    basisPoints: BigInt(extension.readUInt16LE(offset + 16)),
  }
}

function obstacleIn(extensions: ReadonlyMap<number, Buffer>): string | null {
  if (extensions.has(extensionKinds.nonTransferable)) return 'its tokens cannot be transferred'
  // Follows its authority; all zeros means none.
  const hook = extensions.get(extensionKinds.transferHook)?.subarray(32, 64)
  return hook?.some((byte) => byte !== 0) === true ? 'a transfer hook runs a program at each transfer' : null
}

/** A share of each transfer, rounded up, at most `most`. */
export type TransferFee = { basisPoints: bigint; most: bigint }

const whole = 10_000n

export function feeOn({ basisPoints, most }: TransferFee, sent: bigint): bigint {
  const fee = (sent * basisPoints + whole - 1n) / whole
  return fee < most ? fee : most
}

/** The least amount to send so that exactly `arriving` arrives. */
export function sentFor({ basisPoints, most }: TransferFee, arriving: bigint): bigint {
  const kept = whole - basisPoints
  if (arriving === 0n) return 0n
  const capped = arriving + most
  if (kept === 0n) return capped
  const sent = (arriving * whole + kept - 1n) / kept
  return sent < capped ? sent : capped
}
