import { encodePairs, hashOf } from './encode.ts'

/** A seal over a range of journals, as decimal, hexadecimal or ISO text: exactly the text that is hashed. */
export type Seal = {
  /** From 1, without a gap. */
  number: string
  /** Id of the last journal before the range. */
  after: string
  /** Id of the last journal in the range. */
  last: string
  /** Number of journals in the range. */
  journals: string
  /** Root of the Merkle tree over them, in order of their ids. */
  root: string
  /** Hash of the previous seal. */
  previous: string
  /** In UTC with six decimal places of the second. */
  sealedAt: string
  hash: string
}

/** The first seal names this as the hash of the previous one. */
export const noHash = '0'.repeat(64)

/** The fields in the order in which they are hashed. */
export const sealFields = ['number', 'after', 'last', 'journals', 'root', 'previous', 'sealedAt'] as const

export function hashSeal(seal: Omit<Seal, 'hash'>): string {
  return hashOf('seal', encodePairs(sealFields.map((name) => [name, seal[name]] as const))).toString('hex')
}

export function withHash(seal: Omit<Seal, 'hash'>): Seal {
  return { ...seal, hash: hashSeal(seal) }
}

/** What is wrong with a seal itself, or in its sequence after the previous one; `before` is null for the first seal. */
export function faultOfSeal(seal: Seal, before: Seal | null): string | null {
  if (hashSeal(seal) !== seal.hash) return 'the seal itself is altered'
  const [number, previous, after] =
    before === null ? [0n, noHash, '0'] : [BigInt(before.number), before.hash, before.last]
  if (BigInt(seal.number) !== number + 1n) return `it comes behind seal ${number}: those between are gone`
  if (seal.previous !== previous || seal.after !== after) return 'it does not follow on the seal before it'
  return null
}
