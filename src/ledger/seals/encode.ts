import { createHash } from 'node:crypto'

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
