import type { SampleColumn } from './columns.ts'
import { isSaid, saidAt } from './forms.ts'
import { type Hints, networkOfWord, networksOfContract } from './hints.ts'
import { ownerOfWord, type StatusMeaning, statusOfWord } from './words.ts'

/** Their words with what they mean; those that are guessed, with the reason. */
export type Dictionary<Meaning extends string = string> = {
  words: Record<string, Meaning>
  doubts: Record<string, string>
}

/**
 * What the words for states mean: by a part of the word that is known, else by where in the life of a record they are
 * told. What is told last is not called settled where something is still told after it.
 * @param ids tells the records apart, sample by sample; samples are in the order in which they came to be.
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

/** Each record's words in the order in which they were first told. */
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
 * Whom the words for kinds of owners mean: by the address book where the owner is in it, else by the word, else by
 * whether deliveries are on a network: a credit to a StableWallet is on none.
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

/** What their words for networks mean, where they are not ours: by name, else by contracts seen beside them. */
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
 * What the words for kinds of events mean: of a deposit where they come with one.
 * @param tellsOfDeposit sample by sample.
 */
export function kindWords(
  column: SampleColumn,
  tellsOfDeposit: readonly boolean[],
): Dictionary<'deposit' | 'ignored'> {
  const result: Dictionary<'deposit' | 'ignored'> = { words: {}, doubts: {} }
  for (const word of wordsIn(column)) {
    const isDeposit = column.leaves.some((leaf, place) => leaf?.text === word && tellsOfDeposit[place])
    result.words[word] = isDeposit ? 'deposit' : 'ignored'
    if (!isDeposit) result.doubts[word] = 'it came without a deposit'
  }
  return withBeginning(result)
}

/** Kinds of deposits that begin alike stand for those not seen yet, too: `deposit.settled` and others, `deposit.*`. */
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
