import { hasForm, isSaid, type SampleColumn } from '../infer/columns.ts'
import { keyOf, type SampleTable } from './sample-table.ts'

/** Rows of webhooks of one deposit, by the record's own time: webhooks that are sent again arrive in any order. */
export type DepositLife = readonly number[]

/** By row: the deposit, by its id, else by its payment. Null if neither is known. */
export function depositsOf(table: SampleTable, id: SampleColumn | undefined): (string | null)[] {
  return table.legs.deposit.transfers.map((transfer, place) => {
    const key = transfer === null ? null : keyOf(transfer)
    return id === undefined ? key : (id.leaves[place]?.text ?? key)
  })
}

export function livesOf(table: SampleTable, id: SampleColumn | undefined): DepositLife[] {
  const lives = new Map<string, number[]>()
  for (const [place, key] of depositsOf(table, id).entries())
    if (key !== null && table.rows[place]?.payload !== null)
      lives.set(key, [...(lives.get(key) ?? []), place])
  return inOrder([...lives.values()], table)
}

/** The time that changes most within the lives; without one, the order of arrival. */
function inOrder(lives: readonly DepositLife[], table: SampleTable): DepositLife[] {
  const changesOf = (column: SampleColumn) =>
    lives.reduce((sum, life) => sum + new Set(life.map((place) => timeAt(column, place))).size - 1, 0)
  const times = table.columns.filter(
    (column) =>
      hasForm(column, 'time') && lives.every((life) => life.every((place) => timeAt(column, place) !== null)),
  )
  const [clock] = times
    .map((column) => ({ column, changes: changesOf(column) }))
    .filter(({ changes }) => changes > 0)
    .toSorted((one, other) => other.changes - one.changes)
  if (clock === undefined) return [...lives]
  const at = (place: number) => timeAt(clock.column, place) ?? 0
  return lives.map((life) => life.toSorted((one, other) => at(one) - at(other)))
}

/** Milliseconds since 1970; null if there is none. */
export function timeAt({ leaves }: SampleColumn, place: number): number | null {
  const leaf = leaves[place]
  if (!isSaid(leaf)) return null
  if (/^\d{10}$/.test(leaf.text)) return Number(leaf.text) * 1000
  if (/^\d{13}$/.test(leaf.text)) return Number(leaf.text)
  const text = leaf.text.replace(' ', 'T')
  const time = Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`)
  return Number.isNaN(time) ? null : time
}
