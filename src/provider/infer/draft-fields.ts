import { isAddress, isSaid, type SampleColumn, saidAt, timeUnitOf } from './columns.ts'
import {
  type Hints,
  isSymbol,
  networkOfWord,
  networksOfContract,
  ownerOfWord,
  type StatusMeaning,
  statusOfWord,
} from './hints.ts'
import type { LegSide } from './rules.ts'

/** A path alone, or with options. */
export type FieldDraft = string | Readonly<Record<string, unknown>>

export type DefaultPresence = 'required' | 'optional'

export type InferredField = { draft: FieldDraft; doubt: string | null }

type FieldDraftOptions = Readonly<Record<string, unknown>>

export function textDraft(
  column: SampleColumn,
  usual: DefaultPresence,
  options: FieldDraftOptions = {},
): FieldDraft {
  const isEmpty = column.leaves.some((leaf) => leaf?.kind === 'text' && leaf.text === '')
  const all = {
    ...(usual === 'required' && presenceOf(column)),
    ...(isEmpty && { absent: [''] }),
    ...options,
  }
  return Object.keys(all).length === 0 ? column.path : { paths: column.path, ...all }
}

function presenceOf({ leaves }: SampleColumn): { presence?: 'nullable' | 'optional' } {
  if (leaves.includes(null)) return { presence: 'optional' }
  return leaves.some((leaf) => leaf?.kind === 'null' || leaf?.text === '') ? { presence: 'nullable' } : {}
}

export function timeDraft(column: SampleColumn, usual: DefaultPresence): InferredField {
  const unit = timeUnitOf(column)
  const doubt = unit === null ? 'its times are not all of one unit' : null
  return { draft: textDraft(column, usual, unit === null || unit === 'iso' ? {} : { as: unit }), doubt }
}

/** A fraction means units. Whole numbers that would be large sums in units are taken for base units. */
export function amountDraft(column: SampleColumn, usual: DefaultPresence): InferredField {
  const said = saidAt(column)
  if (said.some(({ text }) => text.includes('.')))
    return { draft: textDraft(column, usual, { as: 'units' }), doubt: null }
  const draft = textDraft(column, usual)
  if (said.some(({ text }) => text.length >= baseUnitDigits)) return { draft, doubt: null }
  return { draft, doubt: 'small whole numbers: base units, or units?' }
}

/** For most stablecoins, a million units would have one digit less. */
const baseUnitDigits = 8

/** A missing value means the network's native coin, which has no contract. */
export function assetDraft(column: SampleColumn, hints: Hints): InferredField {
  const isSilent = column.leaves.some((leaf) => !isSaid(leaf))
  const otherwise = isSilent ? { otherwise: 'native' } : {}
  const words = saidAt(column).map(({ text }) => text)
  if (words.some(isAddress)) return { draft: textDraft(column, 'required', otherwise), doubt: null }
  const unknown = words.find((word) => !isSymbol(hints, word))
  const doubt = unknown === undefined ? null : `${unknown} is no symbol of the settings: name it under assets`
  return { draft: textDraft(column, 'required', { as: 'symbol', ...otherwise }), doubt }
}

/** If the network of a delivery is missing, a StableWallet was credited. */
export function networkDraft(column: SampleColumn, leg: LegSide): FieldDraft {
  const isCredit = leg === 'settlement' && column.leaves.some((leaf) => !isSaid(leaf))
  return textDraft(column, 'required', isCredit ? { otherwise: 'stable-wallet' } : {})
}

export type Dictionary<Meaning extends string = string> = {
  words: Record<string, Meaning>
  doubts: Record<string, string>
}

/**
 * By a known part of the word, else by its position in a record's history. A final word is not settled if
 * another status follows it.
 * @param ids identifies the record of each sample; samples are in chronological order
 */
export function statusWords(column: SampleColumn, ids: SampleColumn | undefined): Dictionary<StatusMeaning> {
  const lives = livesOf(column, ids)
  const result: Dictionary<StatusMeaning> = { words: {}, doubts: {} }
  for (const word of wordsIn(column)) {
    const known = statusOfWord(word)
    const isLast = lives.every((life) => !life.includes(word) || life.at(-1) === word)
    const isFirst = lives.every((life) => !life.includes(word) || life[0] === word)
    result.words[word] = known ?? (isFirst && !isLast ? 'observed' : isLast ? 'settled' : 'settling')
    if (known === null) result.doubts[word] = 'unknown word; guessed from its position in the history'
    if (known === 'settled' && !isLast) result.doubts[word] = 'other statuses follow it'
  }
  return result
}

function livesOf(column: SampleColumn, ids: SampleColumn | undefined): string[][] {
  const lives = new Map<string, string[]>()
  for (const [place, leaf] of column.leaves.entries()) {
    if (leaf === null || leaf.text === '') continue
    const id = ids?.leaves[place]?.text ?? place.toString()
    const life = lives.get(id) ?? []
    if (!life.includes(leaf.text)) lives.set(id, [...life, leaf.text])
  }
  return [...lives.values()].filter((life) => life.length > 1)
}

type OwnerColumns = { kind: SampleColumn; id: SampleColumn; settlementNetwork: SampleColumn | undefined }

/**
 * By the address book, else the word, else whether deliveries name a network: a credit to a StableWallet
 * names none.
 */
export function ownerWords(
  { kind, id, settlementNetwork }: OwnerColumns,
  { owners }: Hints,
): Dictionary<'channel' | 'stable_wallet'> {
  const result: Dictionary<'channel' | 'stable_wallet'> = { words: {}, doubts: {} }
  for (const word of wordsIn(kind)) {
    const places = [...kind.leaves.keys()].filter((place) => kind.leaves[place]?.text === word)
    const booked = places.map((place) => owners.get(id.leaves[place]?.text ?? '')).find(Boolean)
    const known = booked ?? ownerOfWord(word)
    const isForwarded = places.some((place) => isSaid(settlementNetwork?.leaves[place]))
    result.words[word] = known ?? (isForwarded ? 'channel' : 'stable_wallet')
    if (known === null)
      result.doubts[word] = isForwarded
        ? 'its deliveries are on networks'
        : 'its deliveries are on no network'
  }
  return result
}

type Legs = { network: SampleColumn | undefined; asset: SampleColumn | undefined }

/** Words that differ from ours: by name, else by the contracts beside them. */
export function networkWords(legs: readonly Legs[], hints: Hints): Dictionary {
  const result: Dictionary = { words: {}, doubts: {} }
  const words = new Set(legs.flatMap(({ network }) => (network ? wordsIn(network) : [])))
  for (const word of words) {
    const named = networkOfWord(hints, word)
    const meant = named ?? networkByContract(word, legs, hints)
    if (meant !== word) result.words[word] = meant ?? 'unknown'
    if (named === null)
      result.doubts[word] = meant === null ? 'which network is it?' : 'by contracts seen on it'
  }
  return result
}

function networkByContract(word: string, legs: readonly Legs[], hints: Hints): string | null {
  for (const { network, asset } of legs) {
    const places = network?.leaves.keys().filter((place) => network.leaves[place]?.text === word) ?? []
    for (const place of places) {
      const [only, other] = networksOfContract(hints, asset?.leaves[place]?.text ?? '')
      if (only !== undefined && other === undefined) return only.name
    }
  }
  return null
}

export type EventMeaning = 'deposit' | 'withdrawal' | 'ignored'

/** Of an event that concerns no deposit. */
export function otherMeaning(word: string): Exclude<EventMeaning, 'deposit'> {
  return /withdraw/i.test(word) ? 'withdrawal' : 'ignored'
}

export function kindWords(
  column: SampleColumn,
  concernsDeposit: readonly boolean[],
): Dictionary<EventMeaning> {
  const result: Dictionary<EventMeaning> = { words: {}, doubts: {} }
  for (const word of wordsIn(column)) {
    const isDeposit = column.leaves.some((leaf, place) => leaf?.text === word && concernsDeposit[place])
    result.words[word] = isDeposit ? 'deposit' : otherMeaning(word)
    if (!isDeposit) result.doubts[word] = 'it came without a deposit'
  }
  return withBeginning(result)
}

/** Covers kinds not seen yet: `deposit.settled` and others become `deposit.*`. */
function withBeginning({ words, doubts }: Dictionary<EventMeaning>): Dictionary<EventMeaning> {
  const deposits = Object.keys(words).filter((word) => words[word] === 'deposit')
  const [beginning] = /^[A-Za-z]+[._:/-]/.exec(deposits[0] ?? '') ?? []
  const isShared =
    beginning !== undefined && deposits.length > 1 && deposits.every((word) => word.startsWith(beginning))
  if (!isShared) return { words, doubts }
  const others = Object.entries(words).filter(([, meaning]) => meaning !== 'deposit')
  return {
    words: { [`${beginning}*`]: 'deposit', ...Object.fromEntries(others) },
    doubts: { ...doubts, [`${beginning}*`]: 'stands for kinds not seen, too' },
  }
}

function wordsIn(column: SampleColumn): string[] {
  return [...new Set(saidAt(column).map(({ text }) => text))]
}
