import { getBase64Encoder, type Address as KitAddress, address as toSolanaAddress } from '@solana/kit'
import type { Address, AssetCode } from '../../core/asset.ts'
import type { SolanaNetworkRpc } from './solana.ts'

/** An account that holds tokens of one mint. */
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

/** The accounts whose tokens the holder can move, largest first. Anyone can create further accounts for a holder. */
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
