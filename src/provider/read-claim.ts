import { type Claim, defaultService, type ServiceName } from '../core/evidence.ts'
import type { UnreadableKind } from '../core/mismatch.ts'
import { parseLossless } from './lossless-json.ts'
import { compileRecord, type IgnoredBy, ignoredBy, type RecordClaim } from './profile/compile-record.ts'
import { compileTime, compileWordField } from './profile/compile-value.ts'
import {
  compileField,
  compilePath,
  compileRequired,
  DigitsLost,
  type RecordContext,
  refuse,
  shownPath,
  shownValue,
  Unreadable,
} from './profile/find-field.ts'
import type { Vocabulary } from './profile/known-assets.ts'
import type { Profile } from './profile/profile-schema.ts'

/**
 * `ignored` by the profile, or the path that could not be read, and why: `value` is what was found there, and
 * `fix` what to change. `items` counts those of the payload, if the profile has `webhook.items`.
 */
export type ClaimReading = { items?: number } & (
  | { kind: 'claim'; claim: Claim }
  | { kind: 'ignored'; by: IgnoredBy; withdrawal?: WithdrawalEvent }
  | UnreadableReading
)

/** `wallet`: its id at the service, if the event names it. */
export type WithdrawalEvent = { wallet: string | null }

export type UnreadableReading = {
  kind: UnreadableKind
  path: string
  problem: string
  value: string | null
  fix: string
  items?: number
}

/** `item` counts from 1, the default. */
export type ClaimPayload = { source: 'webhook' | 'api'; body: Buffer; receivedAt: Date; item?: number }

export type ClaimReader = (payload: ClaimPayload) => ClaimReading

type TimedRecordClaim = RecordClaim & { occurredAt: Date | null }

/** Never guesses: anything that does not fit is reported. */
export function createClaimReader(
  profile: Profile,
  vocabulary: Vocabulary,
  service: ServiceName = defaultService,
): ClaimReader {
  const context = { profile, vocabulary, service }
  const readers = {
    webhook: readLosslessly(compileItems(profile, compileWebhook(context))),
    api: readLosslessly(compileWhole(compileListed(context))),
  }
  return (message) => catchUnreadable(() => readers[message.source](textOf(message.body), message))
}

/** One reading for each item. A payload without items is read as a whole. */
export function readItems(read: ClaimReader, payload: ClaimPayload): ClaimReading[] {
  const first = read(payload)
  const others = Array.from({ length: (first.items ?? 1) - 1 }, (_, place) => place + 2)
  return [first, ...others.map((item) => read({ ...payload, item }))]
}

type PayloadReader = (payload: unknown, message: ClaimPayload) => ClaimReading

function compileWhole(read: RecordParser): PayloadReader {
  return (payload, message) => readRecord(read({ payload, record: payload }), message)
}

/** Each item becomes an inbox row with a copy of the body. */
const itemsMax = 200

/** An item that the list does not have, such as the first of an empty list, is ignored. */
function compileItems({ webhook: { items: path } }: Profile, read: RecordParser): PayloadReader {
  if (path === undefined) return compileWhole(read)
  const find = compilePath(path)
  return (payload, message) => {
    const items = listOf(find(payload, payload), shownPath(path, ''))
    const { item = 1 } = message
    const place = { payload, record: items[item - 1] }
    const reading: ClaimReading =
      item > items.length
        ? { kind: 'ignored', by: { key: 'webhook.items', path: shownPath(path, ''), value: null } }
        : catchUnreadable(() => readRecord(read(place), message))
    return { ...atItem(reading, itemPath(path, item)), items: items.length }
  }
}

function listOf(found: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(found)) {
    const fix = 'correct webhook.items, which must be the path of a list'
    return refuse(path, found === undefined ? 'is missing' : 'is no list', { fix })
  }
  if (found.length <= itemsMax) return found
  const fix = 'let the service send fewer per webhook'
  return refuse(path, `has ${found.length} items; at most ${itemsMax} are read`, { fix })
}

/** As in the path of a profile, which counts from 0. */
export function itemPath(items: string, item: number): string {
  return `${shownPath(items, '')}.${item - 1}`
}

/** The paths of a compiled profile begin with the same prefix for every item. */
const anyItem = '*'

function atItem(reading: ClaimReading, prefix: string): ClaimReading {
  const named = (path: string) =>
    path.startsWith(`${anyItem}.`) ? prefix + path.slice(anyItem.length) : path
  if (reading.kind === 'claim') return reading
  if (reading.kind === 'ignored') return { ...reading, by: { ...reading.by, path: named(reading.by.path) } }
  return { ...reading, path: named(reading.path) }
}

function readRecord(
  reported: TimedRecordClaim | IgnoredRecord,
  { source, receivedAt }: ClaimPayload,
): ClaimReading {
  if ('ignoredBy' in reported) {
    const { ignoredBy: by, withdrawal } = reported
    return { kind: 'ignored', by, ...(withdrawal && { withdrawal }) }
  }
  const dated =
    reported.occurredAt === null
      ? ({ occurredAt: receivedAt, isUndated: true } as const)
      : { occurredAt: reported.occurredAt }
  return { kind: 'claim', claim: { kind: 'claim', source, ...reported, ...dated, receivedAt } }
}

/** The place is that of an event, or of a record of a list. */
type RecordParser = (place: RecordContext) => TimedRecordClaim | IgnoredRecord

type IgnoredRecord = { ignoredBy: IgnoredBy; withdrawal?: WithdrawalEvent }

type ReaderContext = { profile: Profile; vocabulary: Vocabulary; service: ServiceName }

function compileListed(context: ReaderContext): RecordParser {
  const { profile } = context
  const readFields = compileRecord(profile.record, { ...context, prefix: '' })
  const readTime = compileTime(profile.record.occurredAt, '')
  return (place) => {
    const record = readFields(place)
    return 'ignoredBy' in record ? record : { ...record, occurredAt: readTime(place) }
  }
}

function compileWebhook(context: ReaderContext): RecordParser {
  const { profile } = context
  const { record: path, occurredAt, items } = profile.webhook
  const around = items === undefined ? '' : anyItem
  const findIgnored = compileKind(profile.webhook, around)
  const prefix = recordPath(profile.webhook, around)
  const find = path === undefined ? null : compilePath(path)
  const readFields = compileRecord(profile.record, { ...context, prefix })
  const readTime = compileTime(occurredAt, around)
  const readRecordTime = compileTime(profile.record.occurredAt, prefix)
  return (event) => {
    const ignored = findIgnored(event)
    if (ignored !== null) return ignored
    const place = find === null ? event : { ...event, record: find(event.record, event.payload) }
    const record = readFields(place)
    if ('ignoredBy' in record) return record
    return { ...record, occurredAt: readTime(event) ?? readRecordTime(place) }
  }
}

/** As shown. @param around path of the event */
export function recordPath({ record }: Profile['webhook'], around: string): string {
  return record === undefined ? around : shownPath(record, around)
}

/** The reader returns null for a deposit. */
function compileKind(
  { kind, unlisted, wallet }: Profile['webhook'],
  prefix: string,
): (event: RecordContext) => IgnoredRecord | null {
  if (kind === undefined) return () => null
  const find = compileRequired(kind, prefix)
  const findWallet = wallet === undefined ? () => null : compileField(wallet, prefix)
  const read = compileWordField(kind, {
    prefix,
    unknown(found) {
      if (unlisted === 'ignored') return 'ignored'
      throw new Unreadable(found.path, `unknown event ${shownValue(found)}`, {
        value: found.text,
        fix: 'add it to webhook.kind.words, as deposit, withdrawal or ignored',
        kind: 'unknown_event',
      })
    },
  })
  return (event) => {
    const meaning = read(event)
    if (meaning === 'deposit') return null
    const ignored = { ignoredBy: ignoredBy('webhook.kind', find(event)) }
    if (meaning === 'ignored') return ignored
    return { ...ignored, withdrawal: { wallet: findWallet(event)?.text ?? null } }
  }
}

/** Parses with plain numbers until a value needs digits that they lose; from then on always without loss. */
function readLosslessly(read: PayloadReader): (text: string, message: ClaimPayload) => ClaimReading {
  let how: (text: string) => unknown = JSON.parse
  return (text, message) => {
    try {
      return read(parsePayload(text, how), message)
    } catch (error) {
      if (!(error instanceof DigitsLost)) throw error
      how = parseLossless
      return read(parsePayload(text, how), message)
    }
  }
}

const unchanged = 'save the payload as it was sent'

export function parsePayload(text: string, how: (text: string) => unknown): unknown {
  try {
    return how(text)
  } catch {
    throw new Unreadable('', 'is no JSON', { fix: unchanged })
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function textOf(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw new Unreadable('', 'is no UTF-8', { fix: unchanged })
  }
}

export function catchUnreadable<Reading>(read: () => Reading): Reading | UnreadableReading {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const { kind, path, message, value, fix } = error
    return { kind, path, problem: message, value, fix }
  }
}

/** Returns null if there is no readable id. */
export function createEventIdReader({ webhook }: Profile): (body: Buffer) => string | null {
  if (webhook.id === undefined) return () => null
  const find = compileField(webhook.id, '')
  return (body) => {
    const payload = parseLossless(body.toString())
    try {
      return find({ payload, record: payload })?.text ?? null
    } catch (error) {
      if (error instanceof Unreadable) return null
      throw error
    }
  }
}
