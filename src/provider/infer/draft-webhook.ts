import { assign, type ColumnMatch } from './assign.ts'
import { columnsOf, isObject, type SampleColumn, valueAt } from './columns.ts'
import { type Doubts, present, type Section } from './doubts.ts'
import { timeDraft } from './infer-field.ts'
import { kindWords } from './infer-words.ts'
import { envelopeRules, type RecordField, twoLegs } from './rules.ts'
import { weighEnvelope } from './weigh.ts'

type WebhookSamples = {
  payloads: readonly unknown[]
  /** Where the record is in them. */
  path: string
  record: ReadonlyMap<RecordField, ColumnMatch>
}

/** The section `webhook` of a profile: what is around the record, or beside its fields where that is the payload. */
export function draftWebhook({ payloads, path, record }: WebhookSamples, doubts: Doubts): Section {
  const fields = new Set([...record.values()].map(({ column }) => column.path))
  const isAround = (column: SampleColumn) =>
    path === '' ? !fields.has(column.path) : !column.path.startsWith(`${path}.`)
  const found = assign(columnsOf(payloads).filter(isAround), {
    rules: envelopeRules,
    legs: twoLegs,
    weigh: weighEnvelope,
  })
  const id = found.get('id')
  doubts.note(['webhook', 'id'], id?.doubt)
  return present({
    id: id?.column.path,
    kind: draftKind(found.get('kind'), { payloads, path, record }, doubts),
    record: path === '' ? undefined : path,
    occurredAt: draftTime(found.get('occurredAt'), doubts),
  })
}

function draftKind(
  kind: ColumnMatch | undefined,
  { payloads, path, record }: WebhookSamples,
  doubts: Doubts,
) {
  if (kind === undefined) return undefined
  const address = record.get('deposit.address')?.column.path ?? ''
  const tellsOfDeposit = payloads.map((payload) => {
    const one = valueAt(payload, path)
    return isObject(one) && typeof valueAt(one, address) === 'string'
  })
  const { words, doubts: unsure } = kindWords(kind.column, tellsOfDeposit)
  doubts.note(['webhook', 'kind', 'paths'], kind.doubt)
  doubts.noteEach(['webhook', 'kind', 'words'], unsure)
  return { paths: kind.column.path, words }
}

function draftTime(time: ColumnMatch | undefined, doubts: Doubts) {
  if (time === undefined) return undefined
  const { draft, doubt } = timeDraft(time.column, 'required')
  doubts.note(['webhook', 'occurredAt'], doubt ?? time.doubt)
  return draft
}
