import type { Brand } from './brand.ts'
import { Fault } from './errors.ts'

/** `mainnet`, `base`, `arbitrum`, `solana`, or one the operator added. */
export type NetworkName = Brand<string, 'NetworkName'>

export type Family = 'evm' | 'solana'

/** Lower-case hexadecimal, or base58 unchanged. */
export type Address = Brand<string, 'Address'>

/** `network/contract`, `network/mint` or `network/native`. A symbol is only a label: fake tokens share it. */
export type AssetKey = Brand<string, 'AssetKey'>

/** Hash (EVM, lower case) or signature (Solana). */
export type TxId = Brand<string, 'TxId'>

export type Asset = { key: AssetKey; network: NetworkName; symbol: string; decimals: number }

/** Without decimals, an asset cannot be read, shown or booked. */
export type AssetLabel = Omit<Asset, 'decimals'>

export const nativeDecimals: Record<Family, number> = { evm: 18, solana: 9 }

export type NetworkReading = {
  /** Nodes that must agree on what will be booked. */
  quorum: number
  finality: { kind: 'tag'; tag: 'finalized' | 'safe' } | { kind: 'depth'; blocks: number }
  /** EVM: traces find payments made by contracts. */
  traces: 'always' | 'on_difference' | 'never'
}

export type NetworkSettings = {
  name: NetworkName
  family: Family
  /** Null on Solana. */
  chainId: number | null
  /** Solana: without it, any cluster on which the nodes agree is accepted. */
  genesisHash?: string | undefined
  /** In order of preference. */
  rpcUrls: readonly string[]
  assets: readonly Asset[]
  /** Assets without decimals, until the chain supplies them. */
  unpinned?: readonly AssetLabel[]
  reading?: NetworkReading
  /** Address of a transaction at a block explorer, with `{tx}`. */
  explorer?: string | undefined
}

/** The contract or mint of an asset, or `native` for the network's own coin. */
export type AssetCode = Address | 'native'

export function assetKey(network: NetworkName, code: AssetCode): AssetKey {
  return `${network}/${code}` as AssetKey
}

export function assetCode(key: AssetKey): AssetCode {
  return key.slice(key.indexOf('/') + 1) as AssetCode
}

export function assetNetwork(key: AssetKey): NetworkName {
  return key.slice(0, key.indexOf('/')) as NetworkName
}

const addressForm: Record<Family, RegExp> = {
  evm: /^0x[0-9a-f]{40}$/i,
  solana: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
}

/** @throws Fault `address_malformed` if the text does not have the family's format */
export function parseAddress(family: Family, text: string): Address {
  if (!addressForm[family].test(text))
    throw new Fault('address_malformed', { family, text: text.slice(0, 100) })
  return (family === 'evm' ? text.toLowerCase() : text) as Address
}

/** EVM hashes compare without regard to case; Solana signatures are case-sensitive. */
export function toTxId(text: string): TxId {
  return (/^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : text) as TxId
}

const txForm: Record<Family, RegExp> = {
  evm: /^0x(?!0{64}$)[0-9a-f]{64}$/i,
  solana: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/,
}

/**
 * Evidence is joined by transaction ids, so a word like "pending" must not pass for one.
 * @throws Fault `transaction_malformed` if the text does not have the network's format
 */
export function parseTxId(family: Family, text: string): TxId {
  if (!txForm[family].test(text))
    throw new Fault('transaction_malformed', { family, text: text.slice(0, 100) })
  return toTxId(text)
}
