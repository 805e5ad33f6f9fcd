import { type Address, getBase58Decoder, getBase64Decoder, type ReadonlyUint8Array } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { z } from 'zod'
import type { SolanaChain } from './chain.ts'
import { invalidParams, RpcError, rpcCodes } from './json-rpc.ts'
import {
  addressParameter,
  contextConfig,
  contextSlot,
  type Methods,
  readParameters,
  withContext,
} from './parameters.ts'
import { decimalsIn } from './record.ts'
import { type AccountState, readMint, readTokenAccount, toUiAmount } from './token-state.ts'

const accountConfig = z.looseObject({
  encoding: z.enum(['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed']).default('binary'),
  dataSlice: z.looseObject({ offset: z.int().min(0), length: z.int().min(0) }).optional(),
})

type AccountConfig = z.output<typeof accountConfig>

const addressesMax = 100
const accountQuery = contextConfig.extend(accountConfig.shape).prefault({})
const tokenFilter = z.union([
  z.looseObject({ mint: addressParameter }),
  z.looseObject({ programId: addressParameter }),
])

const schemas = {
  one: z.tuple([addressParameter, accountQuery]),
  several: z.tuple([z.array(addressParameter).max(addressesMax), accountQuery]),
  byOwner: z.tuple([addressParameter, tokenFilter, accountQuery]),
}

export function accountMethods(chain: SolanaChain): Methods {
  const encoded = (account: AccountState | null, wanted: AccountConfig, slot: number) =>
    account === null
      ? null
      : encodeAccount(account, wanted, (mint) => decimalsIn(chain.accountAt(mint as Address, slot)))
  return {
    getBalance(parameters) {
      const [address, wanted] = readParameters(schemas.one, parameters)
      const slot = contextSlot(chain, wanted)
      return withContext(slot, chain.accountAt(address, slot)?.lamports ?? 0n)
    },
    getAccountInfo(parameters) {
      const [address, wanted] = readParameters(schemas.one, parameters)
      const slot = contextSlot(chain, wanted)
      return withContext(slot, encoded(chain.accountAt(address, slot), wanted, slot))
    },
    getMultipleAccounts(parameters) {
      const [addresses, wanted] = readParameters(schemas.several, parameters)
      const slot = contextSlot(chain, wanted)
      return withContext(
        slot,
        addresses.map((address) => encoded(chain.accountAt(address, slot), wanted, slot)),
      )
    },
    getTokenAccountBalance(parameters) {
      const [address, wanted] = readParameters(schemas.one, parameters)
      const slot = contextSlot(chain, wanted)
      const { mint, amount } = requireTokenAccount(chain.accountAt(address, slot))
      return withContext(slot, toUiAmount(amount, decimalsIn(chain.accountAt(mint, slot))))
    },
    getTokenAccountsByOwner(parameters) {
      const [owner, filter, wanted] = readParameters(schemas.byOwner, parameters)
      const slot = contextSlot(chain, wanted)
      const found = tokenAccounts(chain, { owner, slot, belongs: belongsTo(chain, filter, slot) })
      return withContext(
        slot,
        found.map(([pubkey, account]) => ({ pubkey, account: encoded(account, wanted, slot) })),
      )
    },
  }
}

type Belongs = (account: AccountState, mint: Address) => boolean

function tokenAccounts(
  chain: SolanaChain,
  { owner, slot, belongs }: { owner: Address; slot: number; belongs: Belongs },
): [Address, AccountState][] {
  return chain.tokenAccountsOf(owner).flatMap((address): [Address, AccountState][] => {
    const account = chain.accountAt(address, slot)
    const token = account === null ? null : readTokenAccount(account)
    if (account === null || token === null || token.owner !== owner) return []
    return belongs(account, token.mint) ? [[address, account]] : []
  })
}

function belongsTo(chain: SolanaChain, filter: z.output<typeof tokenFilter>, slot: number): Belongs {
  if ('programId' in filter) {
    const { programId } = filter
    return (account) => account.owner === programId
  }
  const { mint } = filter
  const account = chain.accountAt(mint, slot)
  if (account === null || readMint(account) === null) throw missing('could not find mint')
  return (_account, ofMint) => ofMint === mint
}

function requireTokenAccount(account: AccountState | null) {
  if (account === null) throw missing('could not find account')
  const token = readTokenAccount(account)
  if (token === null) throw missing('not a Token account')
  return token
}

function missing(problem: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, `Invalid param: ${problem}`)
}

type DecimalsOf = (mint: string) => number

/** No account pays rent any more; a real node returns this value. */
const rentExemptEpoch = 2n ** 64n - 1n
const base58BytesMax = 128

function encodeAccount(account: AccountState, format: AccountConfig, decimalsOf: DecimalsOf) {
  const { lamports, owner, executable, data } = account
  const parsed = format.encoding === 'jsonParsed' ? parseData(account, decimalsOf) : null
  return {
    data: parsed ?? encodeData(sliced(data, format.dataSlice), format.encoding),
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
