import {
  AccountRole,
  type Address,
  getAddressEncoder,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { getInitializeMint2Instruction } from '@solana-program/token'

export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address

/** A part of a mint of Token-2022: how many bytes it adds, and the instruction that makes it before the mint. */
export type Extension = { bytes: number; data: readonly number[] }

const header = 4

/** Of each transfer so many basis points are withheld, and never more than `most`. */
export function transferFee(basisPoints: number, most: bigint): Extension {
  const data = Buffer.alloc(14)
  // 26, 0: no authority over the fee, none over what is withheld.
  data.writeUInt8(26, 0)
  data.writeUInt16LE(basisPoints, 4)
  data.writeBigUInt64LE(most, 6)
  return { bytes: header + 108, data: [...data] }
}

export const nonTransferable: Extension = { bytes: header, data: [32] }

/** A program that is called at each transfer. */
export function transferHook(program: Address): Extension {
  const none = Array.from({ length: 32 }, () => 0)
  return { bytes: header + 64, data: [36, 0, ...none, ...getAddressEncoder().encode(program)] }
}

/** Where a mint has any extensions, they stand behind 165 bytes and one that says that it is a mint. */
export function mintBytes(extensions: readonly Extension[]): bigint {
  const added = extensions.reduce((sum, { bytes }) => sum + bytes, 0)
  return BigInt(added === 0 ? 82 : 166 + added)
}

/** Instructions for an account that exists already, of that many bytes. */
export function makeMint(
  mint: KeyPairSigner,
  authority: Address,
  extensions: readonly Extension[],
): Instruction[] {
  const account = { address: mint.address, role: AccountRole.WRITABLE }
  const made = extensions.map(({ data }) => ({
    programAddress: token2022Program,
    accounts: [account],
    data: Uint8Array.from(data),
  }))
  const wanted = { mint: mint.address, decimals: 6, mintAuthority: authority }
  return [...made, getInitializeMint2Instruction(wanted, { programAddress: token2022Program })]
}
