import type { Column } from './columns.ts'
import { hasForm, wordsOf } from './forms.ts'
import { type Leg, legNames, type Rule } from './rules.ts'

/** Where a field of ours was found, and what makes it doubtful. */
export type Found = { column: Column; doubt: string | null }

/** What speaks for a column beside its name and form; negative where it speaks against it. */
export type Weigh<Field extends string> = (field: Field, column: Column) => number

/** One name that matches, however deep its path, is enough; less is a guess that is not made. */
const scoreMin = 2.5
/** With a smaller lead over the next column, a field is called unsure. */
const leadMin = 2

type Scored<Field> = { field: Field; column: Column; score: number }

/** Gives each field the column that fits it best, the clearest first, and no column to two fields. */
export function assign<Field extends string>(
  rules: Readonly<Record<Field, Rule>>,
  columns: readonly Column[],
  weigh: Weigh<Field>,
): Map<Field, Found> {
  const fields = Object.keys(rules) as Field[]
  const scored = fields
    .flatMap((field) =>
      columns.map((column) => ({
        field,
        column,
        score: score(rules[field], column, () => weigh(field, column)),
      })),
    )
    .filter((one) => one.score >= scoreMin)
    .toSorted((one, other) => other.score - one.score)
  const found = new Map<Field, Found>()
  const taken = new Set<Column>()
  for (const { field, column } of scored) {
    if (found.has(field) || taken.has(column)) continue
    taken.add(column)
    found.set(field, { column, doubt: null })
  }
  for (const [field, { column }] of found) found.set(field, { column, doubt: doubtOf(field, column) })
  return found

  function doubtOf(field: Field, column: Column): string | null {
    const ranked: readonly Scored<Field>[] = scored.filter((one) => one.field === field)
    const own = ranked.find((one) => one.column === column)?.score ?? 0
    const next = ranked.find((one) => one.column !== column && (!taken.has(one.column) || one.score > own))
    return next !== undefined && own - next.score < leadMin ? `${next.column.path} would fit as well` : null
  }
}

const nameWeight = 4
const furtherNameWeight = 2
const againstWeight = 5
const againstOnTheWayWeight = 3
const legWeight = 3

function score(rule: Rule, column: Column, weigh: () => number): number {
  if (!hasForm(column, rule.form)) return 0
  const { last, before } = wordsOf(column.path)
  const matches = last.filter((word) => rule.names.includes(word)).length
  const named = matches === 0 ? 0 : nameWeight + (matches > 1 ? furtherNameWeight : 0)
  const within = before.some((word) => rule.within?.includes(word)) ? nameWeight : 0
  const against = last.some((word) => rule.others?.includes(word)) ? againstWeight : 0
  const aside = before.some((word) => rule.others?.includes(word)) ? againstOnTheWayWeight : 0
  const depth = Math.min(before.length / 4, 1)
  return named + within - against - aside + legScore(rule.leg, [...last, ...before]) - depth + weigh()
}

function legScore(leg: Leg | undefined, words: readonly string[]): number {
  if (leg === undefined) return 0
  const other = leg === 'deposit' ? 'settlement' : 'deposit'
  const speaks = (one: Leg) => (words.some((word) => legNames[one].includes(word)) ? legWeight : 0)
  return speaks(leg) - speaks(other)
}
