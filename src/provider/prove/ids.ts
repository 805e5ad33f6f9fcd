import { hasForm, isEnumerable, isSaid, type SampleColumn } from '../infer/columns.ts'
import { textDraft, timeDraft } from '../infer/draft-fields.ts'
import { candidateOf, countOf, depositsMin, type ProvedField, proveField, unsure } from './proof.ts'
import { keyOf, type SampleTable } from './sample-table.ts'

/**
 * The id of a deposit: one per payment, and one payment per id, in webhooks and records alike. A short number is
 * never proved to be one.
 */
export function proveId(table: SampleTable, drafted: string | undefined): ProvedField {
  const payments = table.legs.deposit
  const keys = payments.transfers.map((transfer) => (transfer === null ? null : keyOf(transfer)))
  const known = payments.deposits === 0 ? [] : table.columns
  const fitting = known.filter((column) => isIdForm(column) && correspond(column, keys))
  const [numbers, texts] = [fitting.filter(isEnumerable), fitting.filter((one) => !isEnumerable(one))]
  const evidence = {
    drafted,
    deposits: payments.deposits,
    values: payments.deposits,
    by: `one for each of ${countOf(payments.deposits, 'payment')} on the chain, wherever the payment is named`,
    without: payments.without,
  }
  if (texts.length > 0) return proveField(texts.map(asId), evidence)
  const found = proveField(numbers.map(asId), evidence)
  if (found.candidate === null) return found
  const others = numbers.map(({ path }) => path).filter((path) => path !== found.candidate?.label)
  return { ...found, proof: unsure('a short number that others can guess: is there another id?', others) }
}

function asId(column: SampleColumn) {
  return candidateOf(column, textDraft(column, 'required'))
}

function isIdForm(column: SampleColumn): boolean {
  const isOther = (['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))
  return !isOther && hasForm(column, 'token') && column.leaves.every(isSaid)
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
  const [numbers, texts] = [fitting.filter(isEnumerable), fitting.filter((one) => !isEnumerable(one))]
  const events = new Set(bodies).size
  const found = proveField(
    (texts.length > 0 ? texts : numbers).map((column) => candidateOf(column, textDraft(column, 'optional'))),
    {
      drafted,
      deposits: events,
      values: events,
      by: `another one for each of ${countOf(events, 'webhook')}`,
      without: 'no webhook was seen',
    },
  )
  if (found.candidate === null || texts.length > 0) return found
  return { ...found, proof: unsure('a short number that others can guess: is there another id?') }
}

/** Rows of webhooks of one deposit, in the order of arrival. */
export type DepositLife = readonly number[]

/** By the id of the deposit, else by its payment. */
export function livesOf(table: SampleTable, id: SampleColumn | undefined): DepositLife[] {
  const lives = new Map<string, number[]>()
  for (const [place, { payload }] of table.rows.entries()) {
    if (payload === null) continue
    const transfer = table.legs.deposit.transfers[place]
    const key = id?.leaves[place]?.text ?? (transfer ? keyOf(transfer) : null)
    if (key !== null) lives.set(key, [...(lives.get(key) ?? []), place])
  }
  return [...lives.values()]
}

export type TimeContext = {
  table: SampleTable
  id: SampleColumn | undefined
  status: SampleColumn | undefined
  drafted: string | undefined
}

const timesOf = ({ columns }: SampleTable) => columns.filter((column) => hasForm(column, 'time'))

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
  const fitting = timesOf(table)
    .filter((column) => column.leaves.every(isSaid) && rises(column))
    .filter((column) => pairs.every(([one, other]) => timeAt(column, one) === timeAt(column, other)))
  return proveField(fitting.map(timeCandidate), {
    drafted,
    deposits: id === undefined ? 0 : Math.min(lives.length, pairs.length),
    values: lives.length,
    by: `later with each status in ${countOf(lives.length, 'deposit')}, and the same in webhooks and records`,
    without:
      id === undefined
        ? 'the id of the deposit is not proved'
        : 'no status was seen in both a webhook and a record',
    doubt: status === undefined ? 'the status is not proved' : null,
  })
}

function timeCandidate(column: SampleColumn) {
  const { draft } = timeDraft(column, 'required')
  return candidateOf(column, draft)
}

/** A webhook and a record of the API with the same deposit and status. */
function statePairs(
  { rows }: SampleTable,
  id: SampleColumn | undefined,
  status: SampleColumn | undefined,
): [number, number][] {
  const stateAt = (place: number) =>
    `${id?.leaves[place]?.text ?? place} ${status?.leaves[place]?.text ?? ''}`
  const webhooks = new Map(
    rows.flatMap(({ payload }, place) => (payload === null ? [] : [[stateAt(place), place] as const])),
  )
  return rows.flatMap(({ payload }, place): [number, number][] => {
    const same = payload === null ? webhooks.get(stateAt(place)) : undefined
    return same === undefined ? [] : [[same, place]]
  })
}

/** The time of creation: fixed in the life of a deposit, not after its first state, and the order of the list. */
export function proveCreatedAt(
  { table, id, drafted }: TimeContext,
  occurredAt: SampleColumn | undefined,
): ProvedField {
  const lives = livesOf(table, id)
  const listed = table.rows.flatMap(({ payload }, place) => (payload === null ? [place] : []))
  const isFixed = (column: SampleColumn) => {
    const times = new Map<string, number | null>()
    return table.rows.every((_row, place) => {
      const key = id?.leaves[place]?.text ?? `${place}`
      const known = times.get(key) ?? timeAt(column, place)
      times.set(key, known)
      return known === timeAt(column, place)
    })
  }
  const isFirst = (column: SampleColumn) =>
    occurredAt === undefined ||
    table.rows.every((_row, place) => (timeAt(column, place) ?? 0) <= (timeAt(occurredAt, place) ?? Infinity))
  const fitting = timesOf(table)
    .filter((column) => column.leaves.every(isSaid))
    .filter((column) => isFixed(column) && isFirst(column) && isOrdered(column, listed) !== null)
  const deposits = id === undefined ? 0 : new Set(listed.map((place) => id.leaves[place]?.text)).size
  return proveField(fitting.map(timeCandidate), {
    drafted,
    deposits,
    values: new Set(listed.map((place) => fitting[0] && timeAt(fitting[0], place))).size,
    valuesMin: depositsMin,
    by: `fixed for each deposit, not after its first status, and the order of ${countOf(deposits, 'record')}`,
    without: id === undefined ? 'the id of the deposit is not proved' : 'no record of the API was seen',
    doubt: lives.length < depositsMin ? 'too few deposits with several webhooks' : null,
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

/** Outside the record: the time of the state that the webhook reports. */
export function proveEventTime(
  table: SampleTable,
  outside: readonly SampleColumn[],
  { drafted, occurredAt }: { drafted: string | undefined; occurredAt: SampleColumn | undefined },
): ProvedField {
  const reported = table.rows.flatMap(({ payload }, place) => (payload === null ? [] : [{ payload, place }]))
  const times = outside.filter((column) => hasForm(column, 'time') && column.leaves.every(isSaid))
  const isSame = (column: SampleColumn) =>
    occurredAt !== undefined &&
    reported.every(({ payload, place }) => timeAt(column, payload) === timeAt(occurredAt, place))
  const same = times.filter(isSame)
  return proveField((same.length > 0 ? same : times).map(timeCandidate), {
    drafted,
    deposits: reported.length,
    values: reported.length,
    by: `the time of the status in each of ${countOf(reported.length, 'webhook')}`,
    without: 'no webhook was seen',
    doubt: same.length > 0 ? null : 'it differs from the time of the status: it may be the time of sending',
  })
}
