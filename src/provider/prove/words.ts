import { hasForm, isSaid, type SampleColumn, saidAt } from '../infer/columns.ts'
import { textDraft } from '../infer/draft-fields.ts'
import { type StatusMeaning, statusOfWord } from '../infer/hints.ts'
import { type DepositLife, depositsOf, livesOf } from './lives.ts'
import { candidateOf, depositsMin, type LineProof, type ProvedField, proveField, unsure } from './proof.ts'
import { columnsFor, type SampleTable } from './sample-table.ts'

const statusesMax = 20

export type ProvedWords<Meaning extends string> = {
  words: Record<string, Meaning>
  proofs: Record<string, LineProof>
}

/**
 * The status: a word of its own is the last one of every deposit that was delivered, and no deposit without a
 * delivery has it.
 */
export function proveStatus(
  table: SampleTable,
  id: SampleColumn | undefined,
  drafted: string | undefined,
): ProvedField {
  const histories = historiesOf(table, id)
  const all = columnsFor(table, 'status').filter(
    (column) => isStatusForm(column) && finalWordOf(column, table, histories) !== null,
  )
  // True and false are too few for a status if there are words.
  const fitting = all.every(isFlag) ? all : all.filter((column) => !isFlag(column))
  const delivered = table.legs.settlement
  return proveField(
    fitting.map((column) => candidateOf(column, textDraft(column, 'required'))),
    {
      drafted,
      deposits: delivered.deposits,
      values: 2,
      by: `its last word comes with the delivery on the chain; deliveries: ${delivered.deposits}`,
      without: delivered.without,
    },
  )
}

function isFlag(column: SampleColumn): boolean {
  return saidAt(column).every(({ kind }) => kind === 'boolean')
}

function isStatusForm(column: SampleColumn): boolean {
  const isOther = (['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))
  const words = new Set(saidAt(column).map(({ text }) => text))
  const isStated = column.leaves.every(isSaid) && hasForm(column, 'token')
  return !isOther && isStated && words.size > 1 && words.size <= statusesMax
}

function historiesOf(table: SampleTable, id: SampleColumn | undefined): DepositLife[] {
  return livesOf(table, id).filter((life) => life.length > 1)
}

/** Null if there is none that enough delivered deposits ended with. */
function finalWordOf(
  column: SampleColumn,
  table: SampleTable,
  histories: readonly DepositLife[],
): string | null {
  const delivered = table.legs.settlement.transfers
  const ends = histories.flatMap((life) => {
    const last = life.at(-1)
    const word = last === undefined ? undefined : column.leaves[last]?.text
    return last !== undefined && word !== undefined && delivered[last] !== null ? [word] : []
  })
  const words = [...new Set(ends)].filter((word) => {
    const isEarly = column.leaves.some(
      (leaf, place) => leaf?.text === word && delivered[place] === null && !table.credits[place],
    )
    const isFollowed = histories.some((life) => isFollowedIn(column, life, word))
    return !isEarly && !isFollowed && ends.filter((one) => one === word).length >= depositsMin
  })
  return words.length === 1 ? (words[0] ?? null) : null
}

function isFollowedIn({ leaves }: SampleColumn, life: DepositLife, word: string): boolean {
  const first = life.findIndex((place) => leaves[place]?.text === word)
  return first !== -1 && life.slice(first).some((place) => leaves[place]?.text !== word)
}

/** Words that say themselves what they mean; their order in time must agree. */
const plainWords = [
  ['observed', /^(?:.*[_\W])?(?:detected|seen|observed|unconfirmed|mempool)$/],
  ['confirmed', /^(?:.*[_\W])?confirmed$/],
  ['settling', /^(?:.*[_\W])?(?:converting|forwarding|swapping|sweeping|settling|paying_out|exchanging)$/],
] as const satisfies readonly (readonly [StatusMeaning, RegExp])[]

function plainMeaning(word: string): StatusMeaning | null {
  const text = word.toLowerCase()
  return plainWords.find(([, form]) => form.test(text))?.[0] ?? null
}

const order = ['observed', 'confirmed', 'settling', 'settled'] as const

type StatusEvidence = { column: SampleColumn; table: SampleTable; histories: readonly DepositLife[] }

/** Meanings of the words: by the chain if it shows them, else by a plain word in its order, else unsure. */
export function proveStatusWords(
  table: SampleTable,
  column: SampleColumn,
  id: SampleColumn | undefined,
): ProvedWords<StatusMeaning> {
  const histories = historiesOf(table, id)
  const evidence = { column, table, histories }
  const lives = wordsToRecords(evidence, id)
  const final = finalWordOf(column, table, histories)
  const result: ProvedWords<StatusMeaning> = { words: {}, proofs: {} }
  for (const word of new Set(saidAt(column).map(({ text }) => text))) {
    const { meaning, proof } = meaningOf(word, final, evidence) ?? {
      meaning: statusOfWord(word) ?? guessByOrder(word, lives),
      proof: null,
    }
    result.words[word] = meaning
    result.proofs[word] = proof ?? unsureMeaning(word, meaning)
  }
  return result
}

/**
 * The words of each deposit up to that of its record, which was read after the webhooks: several statuses may have one
 * time.
 */
function wordsToRecords(
  { column, table, histories }: StatusEvidence,
  id: SampleColumn | undefined,
): string[][] {
  const deposits = depositsOf(table, id)
  const ofRecords = new Map(
    table.rows.flatMap(({ payload }, place) =>
      payload === null ? [[deposits[place], column.leaves[place]?.text]] : [],
    ),
  )
  return histories.map((life) => {
    const words = wordsIn(column, life)
    const last = ofRecords.get(deposits[life[0] ?? -1])
    return last === undefined ? words : [...words.filter((word) => word !== last), last]
  })
}

/** For a word that says nothing. */
function guessByOrder(word: string, lives: readonly string[][]): StatusMeaning {
  const own = lives.filter((words) => words.includes(word))
  if (own.every((words) => words.at(-1) === word)) return 'settled'
  return own.every((words) => words[0] === word) ? 'observed' : 'settling'
}

type ProvedMeaning = { meaning: StatusMeaning; proof: LineProof }

function meaningOf(word: string, final: string | null, evidence: StatusEvidence): ProvedMeaning | null {
  const { column, table, histories } = evidence
  if (word === final) {
    const ended = histories.filter((life) => column.leaves[life.at(-1) ?? -1]?.text === word).length
    return { meaning: 'settled', proof: proved(`the last of ${ended} deposits that were delivered`) }
  }
  const places = [...column.leaves.keys()].filter((place) => column.leaves[place]?.text === word)
  const isLast = !histories.some((life) => isFollowedIn(column, life, word))
  if (isLast && places.every((place) => table.failures[place]))
    return { meaning: 'failed', proof: proved('the chain shows that the transaction failed') }
  const refunds = places.map((place) => table.refunds.transfers[place])
  const returned = new Set(refunds.flatMap((one) => (one ? [one.tx] : []))).size
  if (isLast && refunds.every(Boolean) && returned >= depositsMin)
    return { meaning: 'refunded', proof: proved(`the last of ${returned} deposits that were returned`) }
  return final === null ? null : plainProof(word, final, evidence)
}

const proved = (by: string): LineProof => ({ kind: 'proved', by })

/** Of deposits that ended with the final word. */
function plainProof(
  word: string,
  final: string,
  { column, histories }: StatusEvidence,
): ProvedMeaning | null {
  const meaning = plainMeaning(word)
  if (meaning === null) return null
  const lives = histories
    .map((life) => wordsIn(column, life))
    .filter((words) => words.includes(word) && words.at(-1) === final)
  const isInOrder = lives.every((words) => isRising(words, final))
  if (lives.length < depositsMin || !isInOrder) return null
  return { meaning, proof: proved(`by the word and its order in ${lives.length} deposits`) }
}

function wordsIn({ leaves }: SampleColumn, life: DepositLife): string[] {
  const words = life.flatMap((place) => (isSaid(leaves[place]) ? [leaves[place]?.text ?? ''] : []))
  return words.filter((word, step) => step === 0 || words[step - 1] !== word)
}

/** Words of other meanings may stand between. */
function isRising(words: readonly string[], final: string): boolean {
  const ranks = words.flatMap((word) => {
    const meaning = word === final ? 'settled' : plainMeaning(word)
    const rank = order.findIndex((one) => one === meaning)
    return rank === -1 ? [] : [rank]
  })
  return ranks.every((rank, step) => step === 0 || (ranks[step - 1] ?? 0) <= rank)
}

function unsureMeaning(word: string, meaning: StatusMeaning): LineProof {
  const isKnown = statusOfWord(word) !== null
  const others = alternatives[meaning]
  return unsure(isKnown ? 'by the word alone' : 'unknown word; guessed from its order', others)
}

const alternatives: Record<StatusMeaning, readonly string[]> = {
  observed: ['confirmed', 'settling', 'held'],
  confirmed: ['observed', 'settling', 'held'],
  settling: ['observed', 'confirmed', 'held'],
  settled: ['confirmed', 'settling', 'held'],
  held: ['settling', 'failed'],
  refunded: ['held', 'failed'],
  failed: ['held', 'refunded'],
}
