import { encodePairs, hashOf } from './encode.ts'

/** What stands for all journals of a stretch, as decimal, hexadecimal or ISO text: exactly what is hashed. */
export type Seal = {
  /** From 1, without a gap. */
  number: string
  /** It is over all journals with a greater id than this one, */
  after: string
  /** up to this one. */
  last: string
  /** How many there are. */
  journals: string
  /** Of the tree over them, in order of their ids. */
  root: string
  /** Hash of the seal before it. */
  previous: string
  /** In UTC with six digits behind the second. */
  sealedAt: string
  hash: string
}

/** The first seal names this as the hash of the one before. */
export const noHash = '0'.repeat(64)

/** Its fields in the order in which they are hashed. */
export const sealFields = ['number', 'after', 'last', 'journals', 'root', 'previous', 'sealedAt'] as const

export function hashSeal(seal: Omit<Seal, 'hash'>): string {
  return hashOf('seal', encodePairs(sealFields.map((name) => [name, seal[name]] as const))).toString('hex')
}

export function withHash(seal: Omit<Seal, 'hash'>): Seal {
  return { ...seal, hash: hashSeal(seal) }
}

/** What is wrong with a seal in itself, and behind the one before it; null is before the first. */
export function faultOfSeal(seal: Seal, before: Seal | null): string | null {
  if (hashSeal(seal) !== seal.hash) return 'the seal itself is altered'
  const [number, previous, after] =
    before === null ? [0n, noHash, '0'] : [BigInt(before.number), before.hash, before.last]
  if (BigInt(seal.number) !== number + 1n) return `it comes behind seal ${number}: those between are gone`
  if (seal.previous !== previous || seal.after !== after) return 'it does not follow on the seal before it'
  return null
}
