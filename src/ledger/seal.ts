import { createHash } from 'node:crypto'
import { z } from 'zod'

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
  if (BigInt(seal.number) !== number + 1n) return `it follows seal ${number}: the seals between are missing`
  if (seal.previous !== previous || seal.after !== after) return 'it does not continue the seal before it'
  return null
}

/** A row of the books as text, by column name; null if a column is empty. */
export type LedgerTextRow<Name extends string = string> = Readonly<Record<Name, string | null>>

/** The sealed fields of a row of `ledger_journal`, and of its row in `manual_journal` if it has one, in this order. */
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

/** The sealed fields of a row of `ledger_transfer`, in this order. Its journal is the one that contains it. */
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

/** A journal as the books store it, with its legs in order. */
export type JournalRows = {
  journal: LedgerTextRow<(typeof journalFields)[number]>
  legs: readonly LedgerTextRow<(typeof legFields)[number]>[]
}

/** Names and values, in order. Nulls are left out, so that null differs from an empty text. */
export type Pairs = readonly (readonly [name: string, value: string])[]

export function pairsOf<Name extends string>(names: readonly Name[], row: LedgerTextRow<Name>): Pairs {
  return names.flatMap((name) => {
    const value = row[name]
    return value === null ? [] : [[name, value] as const]
  })
}

/**
 * Concatenates names and values, each after its length (a netstring), so that different pairs never have the same
 * encoding, for any content.
 */
export function encodePairs(pairs: Pairs): string {
  return pairs.flat().map(netstring).join('')
}

/** The journal's own fields, and each leg as one more value in the same encoding. */
export function journalPairs({ journal, legs }: JournalRows): Pairs {
  return [
    ...pairsOf(journalFields, journal),
    ...legs.map((leg) => ['leg', encodePairs(pairsOf(legFields, leg))] as const),
  ]
}

/** The first byte of a hash's input: it names the kind of input, so that no kind can be mistaken for another. */
const hashed = { leaf: 0, node: 1, seal: 2 } as const

/** SHA-256 of the kind's byte and the content. */
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

/** One line of a file of anchors: all that is needed to check the books or a proof against a seal. */
export function anchorLine(seal: Seal): string {
  const fields = [...sealFields, 'hash' as const].map((name) => [name, seal[name]])
  return JSON.stringify(Object.fromEntries(fields))
}

const numberText = z.string().regex(/^(?:0|[1-9]\d{0,18})$/)
const hashText = z.string().regex(/^[0-9a-f]{64}$/)

const anchorShape = z.strictObject({
  number: numberText,
  after: numberText,
  last: numberText,
  journals: numberText,
  root: hashText,
  previous: hashText,
  sealedAt: z.string(),
  hash: hashText,
})

/**
 * Parses such a line.
 * @returns the seal, or what is wrong with the line
 */
export function readAnchor(line: string): Seal | { fault: string } {
  const read = anchorShape.safeParse(jsonOf(line))
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
