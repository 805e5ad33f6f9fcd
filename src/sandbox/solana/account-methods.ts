import type { Address } from '@solana/kit'
import { z } from 'zod'
import type { SolanaChain } from './chain.ts'
import { type AccountConfig, accountConfig, encodeAccount } from './encode-account.ts'
import {
  addressParameter,
  contextConfig,
  contextSlot,
  type Methods,
  readParameters,
  withContext,
} from './parameters.ts'
import { decimalsIn } from './record.ts'
import { RpcError, rpcCodes } from './rpc-error.ts'
import { type AccountState, readMint, readTokenAccount, toUiAmount } from './token-state.ts'

const addressesMax = 100
const config = contextConfig.extend(accountConfig.shape).prefault({})
const tokenFilter = z.union([
  z.looseObject({ mint: addressParameter }),
  z.looseObject({ programId: addressParameter }),
])

const schemas = {
  one: z.tuple([addressParameter, config]),
  several: z.tuple([z.array(addressParameter).max(addressesMax), config]),
  byOwner: z.tuple([addressParameter, tokenFilter, config]),
}

/** Accounts as they were at the end of the newest slot of the requested commitment. */
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

/** @throws RpcError -32602 if the account is not a mint */
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
