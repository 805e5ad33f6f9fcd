import type { SampleColumn } from './columns.ts'
import { isSaid, saidAt } from './forms.ts'
import { type Hints, networkOfWord, networksOfContract } from './hints.ts'
import { ownerOfWord, type StatusMeaning, statusOfWord } from './words.ts'

/** Words of the service with their meanings, and a reason for each guess. */
export type Dictionary<Meaning extends string = string> = {
  words: Record<string, Meaning>
  doubts: Record<string, string>
}

/**
 * Meanings of status words: by a known part of the word, else by its position in the history of a record. A final word
 * is not called settled if another status follows it.
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
    if (known === null) result.doubts[word] = 'the word is not known; guessed by when it is told'
    if (known === 'settled' && !isLast) result.doubts[word] = 'something is told after it'
  }
  return result
}

/** The words of each record, in the order of their first appearance. */
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
 * Meanings of owner kinds: by the address book if it has the owner, else by the word, else by whether deliveries name a
 * network: a credit to a StableWallet names none.
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

/** Meanings of network words that differ from ours: by name, else by the contracts beside them. */
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

/**
 * Meanings of event kinds: `deposit` if the event carries one.
 * @param concernsDeposit per sample
 */
export function kindWords(
  column: SampleColumn,
  concernsDeposit: readonly boolean[],
): Dictionary<'deposit' | 'ignored'> {
  const result: Dictionary<'deposit' | 'ignored'> = { words: {}, doubts: {} }
  for (const word of wordsIn(column)) {
    const isDeposit = column.leaves.some((leaf, place) => leaf?.text === word && concernsDeposit[place])
    result.words[word] = isDeposit ? 'deposit' : 'ignored'
    if (!isDeposit) result.doubts[word] = 'it came without a deposit'
  }
  return withBeginning(result)
}

/**
 * Generalises a common prefix of deposit events to kinds not seen yet: `deposit.settled` and others become `deposit.*`.
 */
function withBeginning({
  words,
  doubts,
}: Dictionary<'deposit' | 'ignored'>): Dictionary<'deposit' | 'ignored'> {
  const deposits = Object.keys(words).filter((word) => words[word] === 'deposit')
  const [beginning] = /^[A-Za-z]+[._:/-]/.exec(deposits[0] ?? '') ?? []
  const isShared =
    beginning !== undefined && deposits.length > 1 && deposits.every((word) => word.startsWith(beginning))
  if (!isShared) return { words, doubts }
  const others = Object.entries(words).filter(([, meaning]) => meaning === 'ignored')
  return {
    words: { [`${beginning}*`]: 'deposit', ...Object.fromEntries(others) },
    doubts: { ...doubts, [`${beginning}*`]: 'stands for kinds not seen, too' },
  }
}

function wordsIn(column: SampleColumn): string[] {
  return [...new Set(saidAt(column).map(({ text }) => text))]
}
