import { getBase58Decoder, getBase64Decoder, type ReadonlyUint8Array } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { z } from 'zod'
import { invalidParams, RpcError, rpcCodes } from './rpc-error.ts'
import { type AccountState, readMint, readTokenAccount, toUiAmount } from './token-state.ts'

export const accountConfig = z.looseObject({
  encoding: z.enum(['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed']).default('binary'),
  dataSlice: z.looseObject({ offset: z.int().min(0), length: z.int().min(0) }).optional(),
})

export type AccountConfig = z.output<typeof accountConfig>

/** Returns the decimals of a mint, for amounts of token accounts. */
export type DecimalsOf = (mint: string) => number

/** No account pays rent any more; a real node returns this value. */
const rentExemptEpoch = 2n ** 64n - 1n
const base58BytesMax = 128

/** Encodes an account as the JSON-RPC interface does. */
export function encodeAccount(account: AccountState, config: AccountConfig, decimalsOf: DecimalsOf) {
  const { lamports, owner, executable, data } = account
  const parsed = config.encoding === 'jsonParsed' ? parseData(account, decimalsOf) : null
  return {
    data: parsed ?? encodeData(sliced(data, config.dataSlice), config.encoding),
    executable,
    lamports,
    owner,
    rentEpoch: rentExemptEpoch,
    space: data.length,
  }
}

function sliced(data: Uint8Array, slice: AccountConfig['dataSlice']): Uint8Array {
  return slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length)
}

function encodeData(
  data: ReadonlyUint8Array,
  encoding: AccountConfig['encoding'],
): string | [string, string] {
  if (encoding === 'base64+zstd') throw invalidParams('encoding: this local node does not compress')
  if (encoding === 'binary') return toBase58(data)
  if (encoding === 'base58') return [toBase58(data), encoding]
  // Data without a parsed form is returned as base64, whichever encoding was requested.
  return [getBase64Decoder().decode(data), 'base64']
}

function toBase58(data: ReadonlyUint8Array): string {
  if (data.length <= base58BytesMax) return getBase58Decoder().decode(data)
  const problem = 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.'
  throw new RpcError(rpcCodes.invalidRequest, problem)
}

/** Null if the node has no parsed form of the data. */
function parseData(account: AccountState, decimalsOf: DecimalsOf) {
  const program = account.owner === TOKEN_PROGRAM_ADDRESS ? 'spl-token' : 'spl-token-2022'
  const space = account.data.length
  const token = readTokenAccount(account)
  if (token !== null) {
    const { mint, owner, state, amount } = token
    const tokenAmount = toUiAmount(amount, decimalsOf(mint))
    return {
      program,
      parsed: { info: { isNative: false, mint, owner, state, tokenAmount }, type: 'account' },
      space,
    }
  }
  const mint = readMint(account)
  if (mint === null) return null
  const { supply, ...rest } = mint
  return {
    program,
    parsed: { info: { ...rest, isInitialized: true, supply: supply.toString() }, type: 'mint' },
    space,
  }
}
