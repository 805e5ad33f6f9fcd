import { type Hex, hexToBytes, keccak256 } from 'viem'

/** The three bits that a value sets in a block's 2,048-bit log filter (Ethereum Yellow Paper, 4.3.1). */
export type BloomBits = readonly [number, number, number]

const bloomBytes = 256

export function bloomBits(value: Hex): BloomBits {
  const hash = hexToBytes(keccak256(value))
  const bit = (place: number) => (((hash[place] ?? 0) << 8) | (hash[place + 1] ?? 0)) & 2047
  return [bit(0), bit(2), bit(4)]
}

/** False proves that the block holds no log with that value; true proves nothing. */
export function bloomMayHold(bloom: Uint8Array, bits: BloomBits): boolean {
  return bits.every((bit) => ((bloom[bloomBytes - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0)
}

/** Empty where a chain does not keep the filter. */
export function parseBloom(bloom: Hex): Uint8Array {
  return bloom.length === 2 + bloomBytes * 2 ? hexToBytes(bloom) : new Uint8Array(bloomBytes)
}

/** How much of the filter is set, from 0 to 1: by chance it holds any value with the third power of that. */
export function bloomShare(bloom: Uint8Array): number {
  let set = 0
  for (const byte of bloom) set += bitsSet[byte] ?? 0
  return set / (bloomBytes * 8)
}

const bitsSet = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)
