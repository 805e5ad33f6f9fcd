import {
  hasForm,
  isAddress,
  isEnumerable,
  type PathWords,
  type SampleColumn,
  saidAt,
  wordsOf,
} from './columns.ts'
import { comparable, type Hints, isSymbol, networkOfWord, networksOfContract, statusOfWord } from './hints.ts'
import type { EnvelopeField, FieldRule, LegNames, RecordField } from './rules.ts'

export type ColumnMatch = { column: SampleColumn; doubt: string | null }

/** Negative speaks against the column. */
export type Weigh<Field extends string> = (field: Field, column: SampleColumn) => number

/** One matching name at any depth is enough. */
const scoreMin = 2.5
/** Below this lead over the next column, the field is marked as unsure. */
const leadMin = 2

type ScoredColumn<Field> = { field: Field; column: SampleColumn; score: number }

type AssignOptions<Field extends string> = {
  rules: Readonly<Record<Field, FieldRule>>
  legs: LegNames
  weigh: Weigh<Field>
}

/** Clearest first. No column is assigned twice. */
export function assign<Field extends string>(
  columns: readonly SampleColumn[],
  { rules, legs, weigh }: AssignOptions<Field>,
): Map<Field, ColumnMatch> {
  const fields = Object.keys(rules) as Field[]
  const scored = fields
    .flatMap((field) =>
      columns
        .filter((column) => hasForm(column, rules[field].form))
        .map((column) => ({
          field,
          column,
          score: score(rules[field], wordsOf(column.path), { legs, weight: weigh(field, column) }),
        })),
    )
    .filter((one) => one.score >= scoreMin)
    .toSorted((one, other) => other.score - one.score)
  const found = new Map<Field, ColumnMatch>()
  const taken = new Set<SampleColumn>()
  for (const { field, column } of scored) {
    if (found.has(field) || taken.has(column)) continue
    taken.add(column)
    found.set(field, { column, doubt: null })
  }
  for (const [field, { column }] of found) found.set(field, { column, doubt: doubtOf(field, column) })
  return found

  function doubtOf(field: Field, column: SampleColumn): string | null {
    const ranked: readonly ScoredColumn<Field>[] = scored.filter((one) => one.field === field)
    const own = ranked.find((one) => one.column === column)?.score ?? 0
    const next = ranked.find((one) => one.column !== column && (!taken.has(one.column) || one.score > own))
    return next !== undefined && own - next.score < leadMin ? `${next.column.path} would fit as well` : null
  }
}

const nameWeight = 4
const wholeNameWeight = 2
const againstWeight = 5
const againstOnTheWayWeight = 3
const legWeight = 3

type Evidence = { legs: LegNames; weight: number }

function score(rule: FieldRule, words: PathWords, { legs, weight }: Evidence): number {
  const leg = rule.leg === undefined ? noLeg : legs[rule.leg]
  const all = [...words.last, ...words.before]
  const named = nameScore(rule, words)
  const isMissed = rule.must !== undefined && !anyOf(all, rule.must)
  // The leg does not determine which of its fields the column is.
  if (weight <= 0 && (named === 0 || isMissed)) return 0
  const side = (anyOf(all, leg.its) ? legWeight : 0) - (anyOf(all, leg.others) ? legWeight : 0)
  const isWhole = words.last.every((word) => anyOf([word], rule.names) || anyOf([word], leg.its))
  const depth = Math.min(words.before.length / 4, 1)
  return weight + named - refusal(rule, words) + side + (isWhole ? wholeNameWeight : 0) - depth
}

const noLeg = { its: [], others: [] }

function nameScore({ names, within }: FieldRule, { last, before }: PathWords): number {
  return (anyOf(last, names) ? nameWeight : 0) + (anyOf(before, within) ? nameWeight : 0)
}

function refusal({ others }: FieldRule, { last, before }: PathWords): number {
  return (anyOf(last, others) ? againstWeight : 0) + (anyOf(before, others) ? againstOnTheWayWeight : 0)
}

function anyOf(words: readonly string[], names: readonly string[] = []): boolean {
  return words.some((word) => names.includes(word))
}

const proof = 12
const strong = 8
const some = 3
const statusesMax = 20
const kindsMax = 30

export function weighRecord(hints: Hints, columns: readonly SampleColumn[]) {
  const payments = columns.filter((column) => hasForm(column, 'transaction')).map(distinct)
  const asset = (column: SampleColumn) => assetWeight(hints, column)
  const network = (column: SampleColumn) => networkWeight(hints, column)
  const weights: Partial<Record<RecordField, (column: SampleColumn) => number>> = {
    id: (column) => {
      const isOther = (['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))
      if (isOther || every(column, (text) => hints.owners.has(text))) return -proof
      if (isEnumerable(column)) return -some
      // Across all samples, there are as many deposits as transactions.
      return payments.includes(distinct(column)) ? strong : 0
    },
    'owner.id': (column) => (every(column, (text) => hints.owners.has(text)) ? proof : 0),
    'owner.kind': (column) => (distinct(column) > 2 ? -proof : 0),
    status: (column) => {
      if (distinct(column) > statusesMax) return -proof
      return every(column, (text) => statusOfWord(text) !== null) ? strong : 0
    },
    'deposit.address': (column) => addressWeight(hints, column, (text) => hints.depositAddresses.has(text)),
    'settlement.address': (column) =>
      saidAt(column).some(({ text }) => isAddress(text))
        ? addressWeight(hints, column, (text) => hints.recipients.has(text) || hints.owners.has(text))
        : -proof,
    'deposit.asset': asset,
    'settlement.asset': asset,
    'deposit.network': network,
    'settlement.network': network,
  }
  return (field: RecordField, column: SampleColumn) => weights[field]?.(column) ?? 0
}

function addressWeight(hints: Hints, column: SampleColumn, isKnown: (text: string) => boolean): number {
  if (every(column, (text) => isKnown(comparable(text)))) return proof
  const isOther = (text: string) =>
    networksOfContract(hints, text).length > 0 || isKnownAddress(hints, comparable(text))
  return every(column, isOther) ? -proof : 0
}

/** A symbol is only a label, so contracts weigh more. */
function assetWeight(hints: Hints, column: SampleColumn): number {
  if (every(column, (text) => networksOfContract(hints, text).length > 0)) return strong + some
  if (every(column, (text) => isSymbol(hints, text))) return strong - some
  const isNone =
    every(column, isUuid) ||
    hasForm(column, 'transaction') ||
    every(column, (text) => isKnownAddress(hints, text))
  return isNone ? -proof : 0
}

function networkWeight(hints: Hints, column: SampleColumn): number {
  return every(column, (text) => networkOfWord(hints, text) !== null) ? strong : 0
}

function isKnownAddress({ depositAddresses, recipients }: Hints, text: string): boolean {
  return depositAddresses.has(comparable(text)) || recipients.has(comparable(text))
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text)
}

function every(column: SampleColumn, test: (text: string) => boolean): boolean {
  return saidAt(column).every(({ text }) => test(text))
}

export function weighEnvelope(field: EnvelopeField, column: SampleColumn): number {
  if (field === 'kind') return distinct(column) > kindsMax ? -proof : 0
  if (field === 'occurredAt') return 0
  if (hasForm(column, 'time')) return -proof
  if (isEnumerable(column)) return -some
  const said = saidAt(column).length
  return said > 1 && distinct(column) === said ? some : 0
}

function distinct(column: SampleColumn): number {
  return new Set(saidAt(column).map(({ text }) => text)).size
}
