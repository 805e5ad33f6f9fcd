import { assign, type ColumnMatch, weighEnvelope } from './assign.ts'
import { columnsOf, isObject, type SampleColumn, valueAt } from './columns.ts'
import {
  amountDraft,
  assetDraft,
  type DefaultPresence,
  type Dictionary,
  type InferredField,
  kindWords,
  networkDraft,
  networkWords,
  ownerWords,
  statusWords,
  textDraft,
  timeDraft,
} from './draft-fields.ts'
import {
  type Doubt,
  Doubts,
  depositsAmong,
  draftList,
  findFields,
  findRecord,
  listingIn,
  recordsAt,
  type Section,
} from './find-records.ts'
import type { Hints } from './hints.ts'
import { envelopeRules, type LegSide, type RecordField, twoLegs } from './rules.ts'

export type ProfileDraft = { profile: Section; doubts: readonly Doubt[] }

/** Parsed without loss of digits, oldest first. */
export type Samples = {
  payloads: readonly unknown[]
  /** Records, or answers of the service that contain lists of them. */
  answers: readonly unknown[]
  /** If the payloads are the items of webhooks: the path of their list. */
  items?: string
}

/** A field that is not found is marked with a doubt. */
export function inferProfile({ payloads, answers, items }: Samples, hints: Hints): ProfileDraft {
  const listings = answers.map((answer) => ({ answer, listing: listingIn(answer) }))
  const listed = listings.flatMap(({ answer, listing }) => listing?.records ?? [answer])
  const path = findRecord(payloads, listed, hints)
  const columns = columnsOf(depositsAmong([...recordsAt(payloads, path), ...listed], hints))
  const found = findFields(columns, hints)
  const doubts = new Doubts()
  const samples = { payloads, items, path, record: found }
  const webhook = payloads.length === 0 ? undefined : draftWebhook(samples, doubts)
  const list = listings.find(({ listing }) => listing !== null)
  return {
    profile: present({
      webhook,
      ...draftRecord(found, hints, doubts),
      list: list?.listing ? draftList(list.answer, list.listing, doubts) : undefined,
    }),
    doubts: doubts.all,
  }
}

type WebhookSamples = {
  payloads: readonly unknown[]
  items: string | undefined
  path: string
  record: ReadonlyMap<RecordField, ColumnMatch>
}

/** Fields outside the record or, if the payload is the record, beside its fields. */
function draftWebhook(samples: WebhookSamples, doubts: Doubts): Section {
  const { payloads, items, path, record } = samples
  const fields = new Set([...record.values()].map(({ column }) => column.path))
  const isAround = (column: SampleColumn) =>
    path === '' ? !fields.has(column.path) : !column.path.startsWith(`${path}.`)
  const found = assign(columnsOf(payloads).filter(isAround), {
    rules: envelopeRules,
    legs: twoLegs,
    weigh: weighEnvelope,
  })
  // The id of an item is not that of the webhook.
  const id = items === undefined ? found.get('id') : undefined
  doubts.note(['webhook', 'id'], id?.doubt)
  return present({
    id: id?.column.path,
    items,
    kind: draftKind(found.get('kind'), samples, doubts),
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
  const concernsDeposit = payloads.map((payload) => {
    const one = valueAt(payload, path)
    return isObject(one) && typeof valueAt(one, address) === 'string'
  })
  const { words, doubts: unsure } = kindWords(kind.column, concernsDeposit)
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

type Fields = ReadonlyMap<RecordField, ColumnMatch>

/** A path without a value, until a person enters one. */
const nowhere = 'not-found'
const notFound = 'not found: give its path'

function draftRecord(fields: Fields, hints: Hints, doubts: Doubts): Section {
  const draft = drafterOf(fields, doubts)
  const networks = draftNetworks(fields, hints, doubts)
  return present({
    record: present({
      id: draft('id', asText('required'), notFound),
      owner: draftOwner(fields, hints, doubts),
      status: draftStatus(fields, doubts),
      createdAt: draft('createdAt', asTime('optional')),
      occurredAt: draft('occurredAt', asTime('required')),
      deposit: draftDeposit(draft, hints),
      settlement: fields.has('settlement.address') ? draftSettlement(draft, hints) : undefined,
      refund: fields.has('refund.transaction')
        ? present({ transaction: draft('refund.transaction', asText('optional')) })
        : undefined,
    }),
    networks,
  })
}

/** A missing field is left out, or marked if a profile requires it. */
type FieldDrafter = (
  field: RecordField,
  read: (column: SampleColumn) => InferredField,
  absent?: string,
) => InferredField['draft'] | undefined

function drafterOf(fields: Fields, doubts: Doubts): FieldDrafter {
  return (field, read, absent) => {
    const found = fields.get(field)
    const path = ['record', ...field.split('.')]
    if (found === undefined) {
      doubts.note(path, absent)
      return absent === undefined ? undefined : nowhere
    }
    const { draft, doubt } = read(found.column)
    doubts.note(path, doubt ?? found.doubt)
    return draft
  }
}

const asText = (usual: DefaultPresence) => (column: SampleColumn) => ({
  draft: textDraft(column, usual),
  doubt: null,
})
const asTime = (usual: DefaultPresence) => (column: SampleColumn) => timeDraft(column, usual)
const asAmount = (usual: DefaultPresence) => (column: SampleColumn) => amountDraft(column, usual)
const asNetwork = (leg: LegSide) => (column: SampleColumn) => ({
  draft: networkDraft(column, leg),
  doubt: null,
})
const asAsset = (hints: Hints) => (column: SampleColumn) => assetDraft(column, hints)

function draftDeposit(draft: FieldDrafter, hints: Hints): Section {
  return present({
    network: draft('deposit.network', asNetwork('deposit')),
    address: draft('deposit.address', asText('required'), notFound),
    asset: draft('deposit.asset', asAsset(hints), notFound),
    amount: draft('deposit.amount', asAmount('required'), notFound),
    transaction: draft('deposit.transaction', asText('optional')),
    index: draft('deposit.index', asText('optional')),
  })
}

function draftSettlement(draft: FieldDrafter, hints: Hints): Section {
  return present({
    network: draft('settlement.network', asNetwork('settlement')),
    address: draft('settlement.address', asText('required'), notFound),
    asset: draft('settlement.asset', asAsset(hints), notFound),
    amount: draft('settlement.amount', asAmount('optional')),
    transaction: draft('settlement.transaction', asText('optional')),
    fee: draft('settlement.fee', asAmount('optional')),
  })
}

/** Left out unless both fields were found: the address book then determines the owner. */
function draftOwner(fields: Fields, hints: Hints, doubts: Doubts): Section | undefined {
  const [kind, id] = [fields.get('owner.kind'), fields.get('owner.id')]
  if (kind === undefined || id === undefined) return undefined
  const path = ['record', 'owner']
  const settlementNetwork = fields.get('settlement.network')?.column
  const meanings = ownerWords({ kind: kind.column, id: id.column, settlementNetwork }, hints)
  doubts.note([...path, 'id'], id.doubt)
  return {
    kind: withWords(kind, meanings, { doubts, path: [...path, 'kind'] }),
    id: textDraft(id.column, 'required'),
  }
}

function draftStatus(fields: Fields, doubts: Doubts): Section {
  const status = fields.get('status')
  const path = ['record', 'status']
  if (status !== undefined)
    return withWords(status, statusWords(status.column, fields.get('id')?.column), { doubts, path })
  doubts.note([...path, 'paths'], notFound)
  return { paths: nowhere, words: {} }
}

type DoubtContext = { doubts: Doubts; path: readonly string[] }

function withWords(
  found: ColumnMatch,
  { words, doubts: unsure }: Dictionary,
  { doubts, path }: DoubtContext,
): Section {
  doubts.note([...path, 'paths'], found.doubt)
  doubts.noteEach([...path, 'words'], unsure)
  const draft = textDraft(found.column, 'required')
  return { ...(typeof draft === 'string' ? { paths: draft } : draft), words }
}

/** Only networks whose names differ from ours. */
function draftNetworks(fields: Fields, hints: Hints, doubts: Doubts): Section | undefined {
  const legs = (['deposit', 'settlement'] as const).map((leg) => ({
    network: fields.get(`${leg}.network`)?.column,
    asset: fields.get(`${leg}.asset`)?.column,
  }))
  const { words, doubts: unsure } = networkWords(legs, hints)
  doubts.noteEach(['networks'], unsure)
  return Object.keys(words).length === 0 ? undefined : words
}

function present(section: Section): Section {
  return Object.fromEntries(Object.entries(section).filter(([, value]) => value !== undefined))
}
