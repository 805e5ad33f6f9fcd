import { isAddress as isSolanaAddress } from '@solana/kit'
import { isAddress as isEvmAddress } from 'viem/utils'
import type { NetworkSettings } from '../core/asset.ts'
import { type Address, assetCode, parseAddress } from '../core/asset.ts'

/** `address` is in the spelling used for comparison. */
export type DestinationCheck = { kind: 'valid'; address: Address } | { kind: 'invalid'; problem: string }

/**
 * Refuses contracts of assets, programs and addresses without an owner, because funds sent there are lost. Accepts
 * multi-signature wallets and accounts of other programs.
 */
export function readDestination(network: NetworkSettings, text: string): DestinationCheck {
  const { name, family, assets, unpinned = [] } = network
  const problem = family === 'evm' ? evmProblem(text) : solanaProblem(text)
  if (problem !== null) return { kind: 'invalid', problem: `${text} ${problem.replace('$', name)}` }
  const address = parseAddress(family, text)
  const asset = [...assets, ...unpinned].find(({ key }) => assetCode(key) === address)
  if (asset !== undefined) {
    return { kind: 'invalid', problem: `${text} is the contract or mint of ${asset.symbol} on ${name}` }
  }
  return { kind: 'valid', address }
}

/** Addresses below `firstUsable` are Ethereum's precompiled contracts; `p256Verify` is that of RIP-7212. */
const firstUsable = 0x12n
const p256Verify = 0x100n

function evmProblem(text: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return 'is not an address on $: 0x and 40 hexadecimal digits'
  // Mixed case carries a checksum (EIP-55); one case alone carries none.
  if (!isEvmAddress(text)) return 'has a wrong checksum'
  const number = BigInt(text)
  if (number === 0n) return 'is the zero address'
  return number < firstUsable || number === p256Verify ? 'is a precompiled contract' : null
}

/** Widely used programs, the mint of wrapped SOL, and the metadata program. */
const programs = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'So11111111111111111111111111111111111111112',
  'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s',
])

function solanaProblem(text: string): string | null {
  if (!isSolanaAddress(text)) return 'is not an address on $: 32 bytes in base58'
  // The runtime's programs, sysvars and incinerator have addresses padded with ones, which have no key.
  if (/1{10}$/.test(text)) return 'is an account of the $ runtime'
  return programs.has(text) ? 'is a program or a mint' : null
}
