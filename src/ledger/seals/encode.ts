import { createHash } from 'node:crypto'

/** A row of the books as text, by the names of its columns; null where a column has nothing. */
export type LedgerTextRow<Name extends string = string> = Readonly<Record<Name, string | null>>

/** What is sealed of a row of `ledger_journal`, and of its row in `manual_journal` where it has one, in this order. */
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

/** What is sealed of a row of `ledger_transfer`, in this order. Its journal is the one that it stands in. */
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

/** A journal as it stands in the books, with its legs in order. */
export type JournalRows = {
  journal: LedgerTextRow<(typeof journalFields)[number]>
  legs: readonly LedgerTextRow<(typeof legFields)[number]>[]
}

/** Names and values, in order. What is null is left out, so that it is not what an empty text is. */
export type Pairs = readonly (readonly [name: string, value: string])[]

export function pairsOf<Name extends string>(names: readonly Name[], row: LedgerTextRow<Name>): Pairs {
  return names.flatMap((name) => {
    const value = row[name]
    return value === null ? [] : [[name, value] as const]
  })
}

/**
 * Names and values one after another, each with its length before it (a netstring), so that different pairs never have
 * the same encoding, whatever stands in them.
 */
export function encodePairs(pairs: Pairs): string {
  return pairs.flat().map(netstring).join('')
}

/** The journal's own fields, and each leg as one more value that is encoded likewise. */
export function journalPairs({ journal, legs }: JournalRows): Pairs {
  return [
    ...pairsOf(journalFields, journal),
    ...legs.map((leg) => ['leg', encodePairs(pairsOf(legFields, leg))] as const),
  ]
}

/** What a hash is of: its first byte, so that none of them can be taken for another. */
const hashed = { leaf: 0, node: 1, seal: 2 } as const

/** SHA-256 over what it is of and its content. */
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
