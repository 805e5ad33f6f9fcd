import { stableWalletNetwork } from '../../core/evidence.ts'
import { isSaid, type SampleColumn } from '../infer/columns.ts'
import { type Hints, isSymbol, networkOfWord } from '../infer/hints.ts'
import type { LegSide } from '../infer/rules.ts'
import { countOf, depositsMin, type LineProof, unsure } from './proof.ts'
import { assetOf, type SampleTable } from './sample-table.ts'

/** A column that is not proved proves none of its words. */
export type LegColumn = { side: LegSide; table: SampleTable; column: SampleColumn; isProved: boolean }

type WordProof = { word: string; meaning: string; proof: LineProof }

/** Our words that the chains show beside a word, each with its number of samples. */
type WordMeanings = { counts: Map<string, number>; isProved: boolean }

/** Proved columns count alone if they have the word. */
function meaningsOf(
  columns: readonly LegColumn[],
  ours: (transfer: { network: string; asset: string }) => string | undefined,
): Map<string, WordMeanings> {
  const found = new Map<string, WordMeanings>()
  for (const { side, table, column, isProved } of columns.toSorted(
    (one, other) => Number(other.isProved) - Number(one.isProved),
  )) {
    for (const [place, leaf] of column.leaves.entries()) {
      if (!isSaid(leaf)) continue
      const word = found.get(leaf.text) ?? { counts: new Map<string, number>(), isProved }
      found.set(leaf.text, word)
      const transfer = table.legs[side].transfers[place]
      const meaning = transfer && isProved === word.isProved ? ours(transfer) : undefined
      if (meaning !== undefined) word.counts.set(meaning, (word.counts.get(meaning) ?? 0) + 1)
    }
  }
  return found
}

/**
 * Words for networks, by where the transactions were found. A word that no transaction decides is listed even if it
 * is the same as ours, since an unlisted word would be taken as it is.
 */
export function networkProofs(columns: readonly LegColumn[], hints: Hints): WordProof[] {
  const found = meaningsOf(columns, ({ network }) => network)
  return [...found].flatMap(([word, meanings]) => {
    const credits = meanings.counts.size > 0 ? null : creditsWith(word, columns)
    if (credits !== null) return [creditProof(word, credits)]
    const named = networkOfWord(hints, word)
    const names = hints.networks.map(({ name }) => name as string)
    return proofsOf(word, meanings, { guess: named ?? 'unknown', names })
  })
}

type CreditSamples = { count: number; isProved: boolean }

/** Samples with this word as the network of their delivery; null if not all of them are of StableWallets. */
function creditsWith(word: string, columns: readonly LegColumn[]): CreditSamples | null {
  const found = columns.flatMap(({ side, table: { credits }, column: { leaves }, isProved }) =>
    [...leaves.keys()]
      .filter((place) => leaves[place]?.text === word)
      .map((place) => ({ isCredit: side === 'settlement' && credits[place] === true, isProved })),
  )
  const isCredit = found.every((one) => one.isCredit)
  return isCredit ? { count: found.length, isProved: found.every((one) => one.isProved) } : null
}

function creditProof(word: string, { count, isProved }: CreditSamples): WordProof {
  const samples = `${countOf(count, 'sample')} of StableWallets of the address book`
  const proof: LineProof =
    isProved && count >= depositsMin
      ? { kind: 'proved', by: `${samples}, and of no other owner` }
      : unsure(isProved ? `only ${samples}` : 'the field is unsure')
  return { word, meaning: stableWalletNetwork, proof }
}

/** Words for assets that are stated by symbol, by what moved. */
export function assetProofs(columns: readonly LegColumn[], hints: Hints): WordProof[] {
  const found = meaningsOf(columns, ({ asset }) => assetOf(hints, asset)?.symbol)
  const names = [...new Set(hints.networks.flatMap(({ assets }) => assets.map(({ symbol }) => symbol)))]
  return [...found]
    .filter(([word, { counts }]) => counts.size > 0 || isSymbol(hints, word))
    .flatMap(([word, meanings]) => proofsOf(word, meanings, { guess: word, names }))
}

type WordContext = { guess: string; names: readonly string[] }

function proofsOf(
  word: string,
  { counts, isProved }: WordMeanings,
  { guess, names }: WordContext,
): WordProof[] {
  const [only, second] = counts
  if (only !== undefined && second === undefined) {
    const [meaning, count] = only
    if (!isProved) return [{ word, meaning, proof: unsure('the field is unsure') }]
    if (meaning === word) return []
    return [{ word, meaning, proof: { kind: 'proved', by: `${countOf(count, 'sample')} on the chain` } }]
  }
  if (second !== undefined) {
    const meaning = counts.has(guess) ? guess : (only?.[0] ?? guess)
    const others = [...counts.keys()].filter((one) => one !== meaning)
    return [{ word, meaning, proof: unsure('the chain shows several', others) }]
  }
  const others = names.filter((one) => one !== guess)
  return [{ word, meaning: guess, proof: unsure('no chain decides it', others) }]
}
