import { hasForm, isSaid, type SampleColumn } from '../infer/columns.ts'
import { timeDraft } from '../infer/draft-fields.ts'
import { depositsOf, livesOf, timeAt } from './lives.ts'
import { candidateOf, countOf, depositsMin, type ProvedField, proveField } from './proof.ts'
import { columnsFor, type SampleTable } from './sample-table.ts'

export type TimeContext = {
  table: SampleTable
  id: SampleColumn | undefined
  status: SampleColumn | undefined
  drafted: string | undefined
}

function timesFor(table: SampleTable, field: string): SampleColumn[] {
  return columnsFor(table, field).filter((column) => hasForm(column, 'time') && column.leaves.every(isSaid))
}

/** The time of the state: later with each status, and the same in a webhook and a record of the same state. */
export function proveOccurredAt({ table, id, status, drafted }: TimeContext): ProvedField {
  const lives = livesOf(table, id).filter((life) => life.length > 1)
  const rises = (column: SampleColumn) =>
    lives.every((life) =>
      life.every((place, step) => {
        const previous = life[step - 1]
        if (previous === undefined) return true
        const [before, now] = [timeAt(column, previous), timeAt(column, place)]
        const isOther = status?.leaves[previous]?.text !== status?.leaves[place]?.text
        return before !== null && now !== null && (isOther ? now > before : now >= before)
      }),
    )
  const pairs = statePairs(table, id, status)
  const fitting = timesFor(table, 'occurredAt')
    .filter(rises)
    .filter((column) => pairs.every(([one, other]) => timeAt(column, one) === timeAt(column, other)))
  return proveField(fitting.map(timeCandidate), {
    drafted,
    deposits: Math.min(lives.length, pairs.length),
    values: lives.length,
    by: `later with each status in ${countOf(lives.length, 'deposit')}, and the same in webhooks and records`,
    without: 'no status was seen in both a webhook and a record',
    doubt: status === undefined ? 'the status is not proved' : null,
  })
}

function timeCandidate(column: SampleColumn) {
  const { draft } = timeDraft(column, 'required')
  return candidateOf(column, draft)
}

/** A webhook and a record of the API with the same deposit and status. */
function statePairs(
  table: SampleTable,
  id: SampleColumn | undefined,
  status: SampleColumn | undefined,
): [number, number][] {
  const deposits = depositsOf(table, id)
  const states = deposits.map((key, place) =>
    key === null ? null : `${key} ${status?.leaves[place]?.text ?? ''}`,
  )
  const isWebhook = (place: number) => table.rows[place]?.payload !== null
  return states.flatMap((state, place): [number, number][] => {
    if (state === null || isWebhook(place)) return []
    const same = states.findIndex((one, other) => one === state && isWebhook(other))
    return same === -1 ? [] : [[same, place]]
  })
}

/** The time of creation: fixed in the life of a deposit, not after its first status, and the order of the list. */
export function proveCreatedAt(
  { table, id, drafted }: TimeContext,
  occurredAt: SampleColumn | undefined,
): ProvedField {
  const keys = depositsOf(table, id)
  const listed = table.rows.flatMap(({ payload }, place) => (payload === null ? [place] : []))
  const all = timesFor(table, 'createdAt')
    .filter((column) => isFixed(column, keys) && isNeverAfter(column, occurredAt))
    .filter((column) => isOrdered(column, listed) !== null)
  const others = all.filter((column) => !isBlockTime(column, table))
  const fitting = others.length > 0 ? others : all
  const deposits = new Set(listed.flatMap((place) => keys[place] ?? [])).size
  const times = (column: SampleColumn) => new Set(listed.map((place) => timeAt(column, place))).size
  const [only] = fitting
  const isBlock = only !== undefined && isBlockTime(only, table)
  return proveField(fitting.map(timeCandidate), {
    drafted,
    deposits,
    values: only === undefined ? 0 : times(only),
    valuesMin: depositsMin,
    by: `fixed for each deposit, not after its first status, and the order of ${countOf(deposits, 'record')}`,
    without: listed.length === 0 ? 'no record of the API was seen' : table.legs.deposit.without,
    doubt:
      (occurredAt === undefined ? 'the time of the status is not proved' : null) ??
      (isBlock ? 'it is the time of the block' : null),
  })
}

function isFixed(column: SampleColumn, keys: readonly (string | null)[]): boolean {
  const times = new Map<string, number | null>()
  return keys.every((key, place) => {
    if (key === null) return true
    const known = times.get(key) ?? timeAt(column, place)
    times.set(key, known)
    return known === timeAt(column, place)
  })
}

function isNeverAfter(column: SampleColumn, other: SampleColumn | undefined): boolean {
  return column.leaves.every((_leaf, place) => {
    const later = other === undefined ? null : timeAt(other, place)
    return later === null || (timeAt(column, place) ?? 0) <= later
  })
}

const secondMs = 1000

function isBlockTime(column: SampleColumn, { legs }: SampleTable): boolean {
  return legs.deposit.transfers.every((transfer, place) => {
    if (transfer === null) return true
    const difference = (timeAt(column, place) ?? 0) - transfer.blockAt.getTime()
    return Math.abs(difference) < secondMs
  })
}

/** Null if the times of the list neither fall nor rise. */
export function isOrdered(
  column: SampleColumn,
  listed: readonly number[],
): 'newest-first' | 'oldest-first' | null {
  const times = listed.map((place) => timeAt(column, place) ?? Number.NaN)
  const follows = (test: (one: number, next: number) => boolean) =>
    times.every((time, place) => place === 0 || test(times[place - 1] ?? Number.NaN, time))
  if (follows((one, next) => one >= next)) return 'newest-first'
  return follows((one, next) => one <= next) ? 'oldest-first' : null
}

/**
 * Outside the record: the time of the state that the webhook reports.
 * @param occurredAt of the record, if it is proved
 */
export function proveEventTime(
  table: SampleTable,
  outside: readonly SampleColumn[],
  { drafted, occurredAt }: { drafted: string | undefined; occurredAt: SampleColumn | undefined },
): ProvedField {
  const reported = table.rows.flatMap(({ payload }, place) => (payload === null ? [] : [{ payload, place }]))
  const times = outside.filter((column) => hasForm(column, 'time') && column.leaves.every(isSaid))
  const same = times.filter(
    (column) =>
      occurredAt !== undefined &&
      reported.every(({ payload, place }) => timeAt(column, payload) === timeAt(occurredAt, place)),
  )
  // The record states the time itself, and that is proved.
  const isNeeded = occurredAt === undefined
  return proveField((isNeeded ? times : same).map(timeCandidate), {
    drafted,
    deposits: reported.length,
    values: reported.length,
    by: `the time of the status in each of ${countOf(reported.length, 'webhook')}`,
    without: 'no webhook was seen',
    doubt: isNeeded ? 'it may be the time of sending' : null,
  })
}
