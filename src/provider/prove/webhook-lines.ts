import { columnsOf, hasForm, isSaid, type SampleColumn, saidAt } from '../infer/columns.ts'
import { type EventMeaning, otherMeaning, textDraft } from '../infer/draft-fields.ts'
import { listingIn } from '../infer/find-records.ts'
import { proveEventId } from './ids.ts'
import { depositsOf } from './lives.ts'
import type { ProfileLines } from './profile-lines.ts'
import { candidateOf, countOf, depositsMin, type LineProof, proveField, unsure } from './proof.ts'
import type { SampleTable } from './sample-table.ts'
import { isOrdered, proveEventTime } from './times.ts'

/** Undefined if it is not proved. */
export type RecordColumns = {
  id: SampleColumn | undefined
  createdAt: SampleColumn | undefined
  occurredAt: SampleColumn | undefined
}

type WebhookTable = {
  payloads: readonly unknown[]
  items: string | undefined
  table: SampleTable
  path: string
}

export function proveWebhook(
  lines: ProfileLines,
  samples: WebhookTable,
  { id, occurredAt }: RecordColumns,
): void {
  const { payloads, items, table, path } = samples
  const isListed = table.rows.some(({ payload }) => payload === null)
  // Without records of the API, nothing tells the fields of the record from those beside them.
  if (payloads.length === 0 || (path === '' && !isListed)) return
  const outside = outsideOf(samples)
  if (items === undefined)
    lines.settle(['webhook', 'id'], proveEventId(payloads, outside, lines.pathOf(['webhook', 'id'])))
  else lines.prove(['webhook', 'items'], recordProof(table, id))
  const drafted = lines.pathOf(['webhook', 'occurredAt'])
  lines.settle(['webhook', 'occurredAt'], proveEventTime(table, outside, { drafted, occurredAt }))
  if (path !== '') lines.prove(['webhook', 'record'], recordProof(table, id))
  proveKind(lines, { payloads, table, outside }, id)
}

/** If the payload is the record: what records of the API do not have. */
function outsideOf({ payloads, table, path }: WebhookTable): SampleColumn[] {
  const columns = columnsOf(payloads)
  if (path !== '') return columns.filter((column) => !column.path.startsWith(`${path}.`))
  const listed = table.rows.flatMap(({ payload }, place) => (payload === null ? [place] : []))
  const stated = table.columns.filter(({ leaves }) => listed.some((place) => leaves[place] !== null))
  const own = new Set(stated.map((column) => column.path))
  return columns.filter((column) => !own.has(column.path))
}

/** Deposits that a webhook and a record of the API describe at the same paths. */
function recordProof(table: SampleTable, id: SampleColumn | undefined): LineProof {
  const keys = depositsOf(table, id)
  const deposits = (isWebhook: boolean) =>
    new Set(keys.filter((key, place) => key !== null && (table.rows[place]?.payload !== null) === isWebhook))
  const both = deposits(true).intersection(deposits(false)).size
  if (both < depositsMin) return unsure('too few deposits are in both webhooks and records of the API')
  return { kind: 'proved', by: `the record that the API has; ${countOf(both, 'deposit')}` }
}

const kindsMax = 30

type KindSamples = { payloads: readonly unknown[]; table: SampleTable; outside: readonly SampleColumn[] }

/** A word is of deposits or of something else, never of both. */
function proveKind(
  lines: ProfileLines,
  { payloads, table, outside }: KindSamples,
  id: SampleColumn | undefined,
): void {
  const path = ['webhook', 'kind']
  const keys = depositsOf(table, id)
  const paid = new Set(keys.filter((_key, place) => table.legs.deposit.transfers[place] !== null))
  const rowOf = new Map(table.rows.map(({ payload }, place) => [payload, place]))
  const isOfDeposit = (payload: number) => rowOf.has(payload)
  const isPaid = (payload: number) => {
    const place = rowOf.get(payload)
    const key = place === undefined ? null : (keys[place] ?? null)
    return key !== null && paid.has(key)
  }
  const others = payloads
    .keys()
    .filter((payload) => !isOfDeposit(payload))
    .toArray().length
  const fitting = outside.filter((column) => isKindForm(column) && divides(column, isOfDeposit))
  const found = proveField(
    fitting.map((column) => candidateOf(column, textDraft(column, 'required'))),
    {
      drafted: lines.pathOf([...path, 'paths']),
      deposits: payloads.length - others,
      values: others === 0 ? 1 : 2,
      by: `divides webhooks of deposits from ${countOf(others, 'other')}`,
      without: 'no webhook of a deposit was seen',
      doubt: fitting.some(isEach) ? 'each webhook has a word of its own' : null,
    },
  )
  // Without a kind, every webhook is a deposit.
  if (found.isRefuted) return lines.drop(path)
  if (found.candidate === null) return lines.prove([...path, 'paths'], found.proof)
  const { column, draft } = found.candidate
  const words = kindsOf(column, { isOfDeposit, isPaid })
  lines.settleWords(path, draft, { proof: found.proof, ...words })
}

function isKindForm(column: SampleColumn): boolean {
  const distinct = new Set(saidAt(column).map(({ text }) => text)).size
  const isId = isEach(column) && column.leaves.length >= 10
  return hasForm(column, 'word') && column.leaves.every(isSaid) && distinct <= kindsMax && !isId
}

function isEach({ leaves }: SampleColumn): boolean {
  return new Set(leaves.map((leaf) => leaf?.text)).size === leaves.length
}

function divides({ leaves }: SampleColumn, isOfDeposit: (payload: number) => boolean): boolean {
  const words = (isDeposit: boolean) =>
    new Set(leaves.flatMap((leaf, place) => (leaf && isOfDeposit(place) === isDeposit ? [leaf.text] : [])))
  return words(true).isDisjointFrom(words(false))
}

type KindTests = { isOfDeposit: (payload: number) => boolean; isPaid: (payload: number) => boolean }

function kindsOf(column: SampleColumn, { isOfDeposit, isPaid }: KindTests) {
  const words: Record<string, EventMeaning> = {}
  const proofs: Record<string, LineProof> = {}
  for (const word of new Set(saidAt(column).map(({ text }) => text))) {
    const places = [...column.leaves.keys()].filter((place) => column.leaves[place]?.text === word)
    const isDeposit = places.every(isOfDeposit)
    const meaning = isDeposit ? 'deposit' : otherMeaning(word)
    words[word] = meaning
    const seen = countOf(places.length, 'webhook')
    if (meaning === 'withdrawal') proofs[word] = unsure('by the word alone', ['ignored'])
    else if (!isDeposit) proofs[word] = { kind: 'proved', by: `no record in ${seen}` }
    else if (places.every(isPaid)) proofs[word] = { kind: 'proved', by: `paid on the chain; ${seen}` }
    else proofs[word] = unsure('not all of its payments were found on a chain', ['ignored'])
  }
  return { words, proofs }
}

/** Only the answers that were seen say how the list is read. */
export function proveList(
  lines: ProfileLines,
  { answers, table }: { answers: readonly unknown[]; table: SampleTable },
  { createdAt }: RecordColumns,
): void {
  const list = answers.find((answer) => listingIn(answer) !== null)
  if (list === undefined) return
  const listed = table.rows.flatMap(({ payload }, place) => (payload === null ? [place] : []))
  const paid = listed.filter((place) => table.legs.deposit.transfers[place] !== null).length
  const proof: LineProof =
    paid < depositsMin
      ? unsure('too few of its payments were found on a chain')
      : { kind: 'proved', by: `holds ${countOf(paid, 'deposit')} that the chain shows` }
  lines.prove(['list', 'items'], proof)
  for (const name of ['pages', 'next', 'firstPage']) {
    const why = 'only single answers were seen: ask for the next page'
    if (lines.at(['list', name]) !== undefined) lines.prove(['list', name], unsure(why))
  }
  if (createdAt === undefined) return
  if (isOrdered(createdAt, listed) === 'newest-first') lines.drop(['list', 'order'])
  else lines.put(['list', 'order'], 'oldest-first', { kind: 'proved', by: 'the times of creation rise' })
}
