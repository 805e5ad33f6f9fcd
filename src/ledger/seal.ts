import { createHash } from 'node:crypto'
import { z } from 'zod'

const numberText = z.string().regex(/^(?:0|[1-9]\d{0,18})$/)
const hashText = z.string().regex(/^[0-9a-f]{64}$/)

const sealShape = z.strictObject({
  /** From 1, without a gap. */
  number: numberText,
  after: numberText,
  last: numberText,
  journals: numberText,
  /** Of the Merkle tree over the journals, in order of their ids. */
  root: hashText,
  previous: hashText,
  /** In UTC with six decimal places of the second. */
  sealedAt: z.string(),
  hash: hashText,
})

/** Decimal, hexadecimal or ISO text: exactly what is hashed. */
export type Seal = z.output<typeof sealShape>

/** The `previous` of the first seal. */
export const noHash = '0'.repeat(64)

/** In hashing order. */
export const sealFields = ['number', 'after', 'last', 'journals', 'root', 'previous', 'sealedAt'] as const

export function hashSeal(seal: Omit<Seal, 'hash'>): string {
  return hashOf('seal', encodePairs(sealFields.map((name) => [name, seal[name]] as const))).toString('hex')
}

export function withHash(seal: Omit<Seal, 'hash'>): Seal {
  return { ...seal, hash: hashSeal(seal) }
}

/** Checks the seal itself and its sequence after `before`, null for the first. */
export function faultOfSeal(seal: Seal, before: Seal | null): string | null {
  if (hashSeal(seal) !== seal.hash) return 'the seal itself is altered'
  const [number, previous, after] =
    before === null ? [0n, noHash, '0'] : [BigInt(before.number), before.hash, before.last]
  if (BigInt(seal.number) !== number + 1n) return `it follows seal ${number}: the seals between are missing`
  if (seal.previous !== previous || seal.after !== after) return 'it does not continue the seal before it'
  return null
}

/** By column name; null if a column is empty. */
export type LedgerTextRow<Name extends string = string> = Readonly<Record<Name, string | null>>

/** From `ledger_journal`, then from its row in `manual_journal`. */
export const journalFields = [
  'id',
  'posting_key',
  'kind',
  'deposit_id',
  'transfer',
  'reverses',
  'event_at',
  'recorded_at',
  'period',
  'reason',
  'made_by',
  'approved_by',
] as const

/** From `ledger_transfer`. */
export const legFields = [
  'leg',
  'debit',
  'credit',
  'asset',
  'amount',
  'event_at',
  'recorded_at',
  'period',
] as const

export type JournalRows = {
  journal: LedgerTextRow<(typeof journalFields)[number]>
  legs: readonly LedgerTextRow<(typeof legFields)[number]>[]
}

/** Nulls are left out, so that null differs from an empty text. */
export type Pairs = readonly (readonly [name: string, value: string])[]

export function pairsOf<Name extends string>(names: readonly Name[], row: LedgerTextRow<Name>): Pairs {
  return names.flatMap((name) => {
    const value = row[name]
    return value === null ? [] : [[name, value] as const]
  })
}

/** Each name and value after its length (a netstring), so that different pairs never have the same encoding. */
export function encodePairs(pairs: Pairs): string {
  return pairs.flat().map(netstring).join('')
}

/** Each leg is one more value in the same encoding. */
export function journalPairs({ journal, legs }: JournalRows): Pairs {
  return [
    ...pairsOf(journalFields, journal),
    ...legs.map((leg) => ['leg', encodePairs(pairsOf(legFields, leg))] as const),
  ]
}

/** The first byte of a hash's input, so that no kind of input can be mistaken for another. */
const hashed = { leaf: 0, node: 1, seal: 2 } as const

export function hashOf(what: keyof typeof hashed, ...content: readonly (string | Buffer)[]): Buffer {
  const hash = createHash('sha256').update(Buffer.of(hashed[what]))
  for (const piece of content) hash.update(piece)
  return hash.digest()
}

export function leafOf(rows: JournalRows): Buffer {
  return hashOf('leaf', encodePairs(journalPairs(rows)))
}

function netstring(text: string): string {
  return `${Buffer.byteLength(text)}:${text},`
}

/** All that is needed to check the books or a proof against a seal. */
export function anchorLine(seal: Seal): string {
  const fields = [...sealFields, 'hash' as const].map((name) => [name, seal[name]])
  return JSON.stringify(Object.fromEntries(fields))
}

/** @returns the seal, or what is wrong with the line */
export function readAnchor(line: string): Seal | { fault: string } {
  const read = sealShape.safeParse(jsonOf(line))
  if (!read.success) return { fault: 'it is not a seal as "ledger seals export" writes it' }
  return hashSeal(read.data) === read.data.hash ? read.data : { fault: 'its hash does not match its fields' }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
