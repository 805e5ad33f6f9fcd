import type { SampleColumn } from './columns.ts'
import { hasForm, type PathWords, wordsOf } from './forms.ts'
import type { FieldRule, LegNames } from './rules.ts'

/** The column found for a field, and a reason to doubt it. */
export type ColumnMatch = { column: SampleColumn; doubt: string | null }

/** Evidence for a column besides its name and form; negative if it speaks against the column. */
export type Weigh<Field extends string> = (field: Field, column: SampleColumn) => number

/** One matching name at any depth is enough; below that, no guess is made. */
const scoreMin = 2.5
/** If the lead over the next column is smaller, the field is marked as unsure. */
const leadMin = 2

type ScoredColumn<Field> = { field: Field; column: SampleColumn; score: number }

type AssignOptions<Field extends string> = {
  rules: Readonly<Record<Field, FieldRule>>
  legs: LegNames
  weigh: Weigh<Field>
}

/** Assigns to each field the column that fits best, clearest first. No column is assigned twice. */
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
