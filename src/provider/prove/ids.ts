import { hasForm, isEnumerable, isSaid, type SampleColumn, saidAt } from '../infer/columns.ts'
import { textDraft, timeDraft } from '../infer/draft-fields.ts'
import {
  candidateOf,
  countOf,
  depositsMin,
  type FieldEvidence,
  type ProvedField,
  proveField,
  unsure,
} from './proof.ts'
import { columnsFor, keyOf, type SampleTable } from './sample-table.ts'

/**
 * The id of a deposit: one per payment, and one payment per id, in webhooks and records alike. A short number is
 * never proved to be one, since others can guess it.
 */
export function proveId(
  table: SampleTable,
  { drafted, isOther }: { drafted: string | undefined; isOther: (column: SampleColumn) => boolean },
): ProvedField {
  const { transfers, deposits, without } = table.legs.deposit
  const keys = transfers.map((transfer) => (transfer === null ? null : keyOf(transfer)))
  const addresses = new Set(transfers.map((transfer) => transfer?.to))
  const known = deposits === 0 ? [] : columnsFor(table, 'id').filter((column) => !isOther(column))
  return proveIdAmong(
    known.filter((column) => isIdForm(column) && correspond(column, keys)),
    {
      drafted,
      deposits,
      values: deposits,
      by: `one for each of ${countOf(deposits, 'payment')} on the chain, in every sample of it`,
      without,
      isVaried: deposits >= variedMin && addresses.size < deposits,
    },
  )
}

/** Deposits, of which some went to the same address, so that nothing of an owner can fit by chance. */
const variedMin = 6

type IdEvidence = FieldEvidence & { isVaried: boolean }

/**
 * A number is only taken, and never proved, if no text fits.
 * @param isVaried if false, a text may fit by chance, and the number be the id
 */
function proveIdAmong(columns: readonly SampleColumn[], { isVaried, ...evidence }: IdEvidence): ProvedField {
  const [numbers, texts] = [columns.filter(isEnumerable), columns.filter((one) => !isEnumerable(one))]
  const isNumber = numbers.some(({ path }) => path === evidence.drafted)
  const candidates = (isVaried && texts.length > 0 ? texts : [...texts, ...numbers]).map((column) =>
    candidateOf(column, textDraft(column, 'required')),
  )
  const isDigits = texts.some((column) => saidAt(column).every(({ text }) => /^\d+$/.test(text)))
  const found = proveField(candidates, {
    ...evidence,
    doubt: isDigits ? 'only digits: it may be an amount' : null,
    drafted: isNumber && texts.length > 0 ? undefined : evidence.drafted,
  })
  if (found.candidate === null || texts.length > 0) return found
  const others = candidates.map(({ label }) => label).filter((label) => label !== found.candidate?.label)
  return { ...found, proof: unsure('a short number, which others can guess: is there another id?', others) }
}

function isIdForm(column: SampleColumn): boolean {
  const isOther = (['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))
  const isFraction = column.leaves.some((leaf) => /^\d+\.\d+$/.test(leaf?.text ?? ''))
  return !isOther && !isFraction && hasForm(column, 'token') && column.leaves.every(isSaid)
}

function correspond({ leaves }: SampleColumn, keys: readonly (string | null)[]): boolean {
  const [keyOfId, idOfKey] = [new Map<string, string>(), new Map<string, string>()]
  return keys.every((key, place) => {
    const id = leaves[place]?.text
    if (key === null || id === undefined) return true
    const [knownKey, knownId] = [keyOfId.get(id) ?? key, idOfKey.get(key) ?? id]
    keyOfId.set(id, knownKey)
    idOfKey.set(key, knownId)
    return knownKey === key && knownId === id
  })
}

/** The id of an event: another one for each webhook of another content. */
export function proveEventId(
  payloads: readonly unknown[],
  outside: readonly SampleColumn[],
  drafted: string | undefined,
): ProvedField {
  const bodies = payloads.map((payload) => JSON.stringify(payload))
  const fitting = outside.filter((column) => isIdForm(column) && correspond(column, bodies))
  const events = new Set(bodies).size
  return proveIdAmong(fitting, {
    drafted,
    deposits: events,
    values: events,
    by: `another one for each of ${countOf(events, 'webhook')}`,
    without: 'no webhook was seen',
    isVaried: false,
  })
}

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

export type TimeContext = {
  table: SampleTable
  id: SampleColumn | undefined
  status: SampleColumn | undefined
  drafted: string | undefined
}

function timesFor(table: SampleTable, field: string): SampleColumn[] {
  return columnsFor(table, field).filter((column) => hasForm(column, 'time') && column.leaves.every(isSaid))
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
