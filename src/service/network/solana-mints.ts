import { getBase64Encoder, type Address as KitAddress, address as toSolanaAddress } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Address } from '../../core/asset.ts'
import type { SolanaNetworkRpc } from './solana.ts'
import type { TransferFee } from './transfer-fee.ts'

export const token2022Program = toSolanaAddress('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

export type MintTransferRules = {
  /** Token or Token-2022: the program that transfers the token. */
  program: KitAddress
  decimals: number
  /** The transfer fee of an epoch; null if the token has none. */
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
    feeIn: feeOf(extensions.get(extensionKinds.transferFee)),
    obstacle: obstacleIn(extensions),
  }
}

const mintLength = 82
const decimalsOffset = 44
const initializedOffset = 45
/** After the longest base layout, Token-2022 stores the account type and then the extensions: kind, length, data. */
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

function feeOf(extension: Buffer | undefined): MintTransferRules['feeIn'] {
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
  // The program called at each transfer follows its authority; all zeros means none.
  const hook = extensions.get(extensionKinds.transferHook)?.subarray(32, 64)
  return hook?.some((byte) => byte !== 0) === true ? 'a program of its own has a say in each transfer' : null
}
