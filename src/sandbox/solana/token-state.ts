import { type Address, getAddressDecoder } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'

export const token2022ProgramAddress = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address

export type AccountState = { lamports: bigint; owner: Address; data: Uint8Array; executable: boolean }

export type TokenAccountState = {
  mint: Address
  owner: Address
  amount: bigint
  state: 'initialized' | 'frozen'
}

export type MintState = {
  mintAuthority: Address | null
  supply: bigint
  decimals: number
  freezeAuthority: Address | null
}

export type UiAmount = { amount: string; decimals: number; uiAmount: number | null; uiAmountString: string }

const tokenAccountSize = 165
const mintSize = 82
/** One byte of Token-2022 says whether an account with extensions is a mint or a token account. */
const kindOffset = 165
const mintKind = 1
const tokenAccountKind = 2

export function isTokenProgram(program: string): boolean {
  return program === TOKEN_PROGRAM_ADDRESS || program === token2022ProgramAddress
}

/** Null if it is no token account of either token program. */
export function readTokenAccount({ owner: program, data }: AccountState): TokenAccountState | null {
  const isSized = data.length === tokenAccountSize || data[kindOffset] === tokenAccountKind
  const state = data[108]
  if (!isTokenProgram(program) || !isSized || (state !== 1 && state !== 2)) return null
  return {
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    amount: view(data).getBigUint64(64, true),
    state: state === 1 ? 'initialized' : 'frozen',
  }
}

/** Null if it is no mint of either token program. */
export function readMint({ owner: program, data }: AccountState): MintState | null {
  const isSized = data.length === mintSize || data[kindOffset] === mintKind
  const decimals = data[44]
  if (!isTokenProgram(program) || !isSized || decimals === undefined || data[45] !== 1) return null
  return {
    mintAuthority: optionalAddressAt(data, 0),
    supply: view(data).getBigUint64(36, true),
    decimals,
    freezeAuthority: optionalAddressAt(data, 46),
  }
}

/** `uiAmount` is a rounded number, as on a real node; bookings use `amount`. */
export function toUiAmount(amount: bigint, decimals: number): UiAmount {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const uiAmountString = fraction === '' ? whole : `${whole}.${fraction}`
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}

function addressAt(data: Uint8Array, offset: number): Address {
  return getAddressDecoder().decode(data, offset)
}

function optionalAddressAt(data: Uint8Array, offset: number): Address | null {
  return view(data).getUint32(offset, true) === 1 ? addressAt(data, offset + 4) : null
}

function view(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}
