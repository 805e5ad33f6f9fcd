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

/** Of each transfer so many basis points are withheld, and never more than `most`. The authority may change that. */
export function transferFee(basisPoints: number, most: bigint, authority?: Address): Extension {
  const setter = authority === undefined ? [0] : [1, ...getAddressEncoder().encode(authority)]
  // Nobody takes out what is withheld.
  return { bytes: header + 108, data: [26, 0, ...setter, 0, ...feeBytes(basisPoints, most)] }
}

/** Sets another fee, which begins with the epoch after the next. */
export function setTransferFee(mint: Address, authority: KeyPairSigner, fee: [number, bigint]): Instruction {
  const signer = { address: authority.address, role: AccountRole.READONLY_SIGNER, signer: authority }
  return {
    programAddress: token2022Program,
    accounts: [{ address: mint, role: AccountRole.WRITABLE }, signer],
    data: Uint8Array.from([26, 5, ...feeBytes(...fee)]),
  }
}

function feeBytes(basisPoints: number, most: bigint): number[] {
  const data = Buffer.alloc(10)
  data.writeUInt16LE(basisPoints, 0)
  data.writeBigUInt64LE(most, 2)
  return [...data]
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
  const wanted = { mint: mint.address, decimals: 6, mintAuthority: authority, freezeAuthority: authority }
  return [...made, getInitializeMint2Instruction(wanted, { programAddress: token2022Program })]
}
