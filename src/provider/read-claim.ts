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
  shownValue,
  Unreadable,
} from './profile/find-field.ts'
import type { Vocabulary } from './profile/known-assets.ts'
import type { Profile } from './profile/profile-schema.ts'

/**
 * `ignored` by the profile, or the path that could not be read, and why: `value` is what was found there, and
 * `fix` what to change.
 */
export type ClaimReading =
  | { kind: 'claim'; claim: Claim }
  | { kind: 'ignored'; by: IgnoredBy }
  | { kind: UnreadableKind; path: string; problem: string; value: string | null; fix: string }

export type ClaimPayload = { source: 'webhook' | 'api'; body: Buffer; receivedAt: Date }

export type ClaimReader = (payload: ClaimPayload) => ClaimReading

export type AnyClaimReader = (payload: ClaimPayload & { service: ServiceName }) => ClaimReading

/** What a service sent that is no longer in the settings is kept unread. */
export function readerOfServices(readers: ReadonlyMap<ServiceName, ClaimReader>): AnyClaimReader {
  return (payload) => {
    const read = readers.get(payload.service)
    if (read !== undefined) return read(payload)
    const { service } = payload
    return {
      kind: 'schema_drift',
      path: '',
      problem: `the service ${service} is not in the settings`,
      value: service,
      fix: `add services.${service} again`,
    }
  }
}

type TimedRecordClaim = RecordClaim & { occurredAt: Date | null }

/** Never guesses: anything that does not fit is reported. */
export function createClaimReader(
  profile: Profile,
  vocabulary: Vocabulary,
  service: ServiceName = defaultService,
): ClaimReader {
  const context = { profile, vocabulary, service }
  const readers = {
    webhook: readLosslessly(compileWebhook(context)),
    api: readLosslessly(compileListed(context)),
  }
  return ({ source, body, receivedAt }) =>
    catchUnreadable(() => {
      const reported = readers[source](textOf(body))
      if ('ignoredBy' in reported) return { kind: 'ignored', by: reported.ignoredBy }
      const dated =
        reported.occurredAt === null
          ? ({ occurredAt: receivedAt, isUndated: true } as const)
          : { occurredAt: reported.occurredAt }
      return { kind: 'claim', claim: { kind: 'claim', source, ...reported, ...dated, receivedAt } }
    })
}

type PayloadParser = (payload: unknown) => TimedRecordClaim | { ignoredBy: IgnoredBy }

type ReaderContext = { profile: Profile; vocabulary: Vocabulary; service: ServiceName }

function compileListed(context: ReaderContext): PayloadParser {
  const { profile } = context
  const readRecord = compileRecord(profile.record, { ...context, prefix: '' })
  const readTime = compileTime(profile.record.occurredAt, '')
  return (payload) => {
    const place = { payload, record: payload }
    const record = readRecord(place)
    return 'ignoredBy' in record ? record : { ...record, occurredAt: readTime(place) }
  }
}

function compileWebhook(context: ReaderContext): PayloadParser {
  const { profile } = context
  const { record: path, occurredAt } = profile.webhook
  const findIgnored = compileKind(profile.webhook)
  const prefix = path ?? ''
  const find = path === undefined ? null : compilePath(path)
  const readRecord = compileRecord(profile.record, { ...context, prefix })
  const readTime = compileTime(occurredAt, '')
  const readRecordTime = compileTime(profile.record.occurredAt, prefix)
  return (payload) => {
    const event = { payload, record: payload }
    const ignored = findIgnored(event)
    if (ignored !== null) return { ignoredBy: ignored }
    const place = find === null ? event : { payload, record: find(payload, payload) }
    const record = readRecord(place)
    if ('ignoredBy' in record) return record
    return { ...record, occurredAt: readTime(event) ?? readRecordTime(place) }
  }
}

/** The reader returns null for a deposit. */
function compileKind({ kind, unlisted }: Profile['webhook']): (event: RecordContext) => IgnoredBy | null {
  if (kind === undefined) return () => null
  const find = compileRequired(kind, '')
  const read = compileWordField(kind, {
    prefix: '',
    unknown(found) {
      if (unlisted === 'ignored') return 'ignored'
      throw new Unreadable(found.path, `unknown event ${shownValue(found)}`, {
        value: found.text,
        fix: 'add it to webhook.kind.words, as deposit or ignored',
        kind: 'unknown_event',
      })
    },
  })
  return (event) => (read(event) === 'deposit' ? null : ignoredBy('webhook.kind', find(event)))
}

/** Parses with plain numbers until a value needs digits that they lose; from then on always without loss. */
function readLosslessly<Value>(read: (payload: unknown) => Value): (text: string) => Value {
  let how: (text: string) => unknown = JSON.parse
  return (text) => {
    try {
      return read(parse(text, how))
    } catch (error) {
      if (!(error instanceof DigitsLost)) throw error
      how = parseLossless
      return read(parse(text, how))
    }
  }
}

const unchanged = 'save the payload as it was sent'

function parse(text: string, how: (text: string) => unknown): unknown {
  try {
    return how(text)
  } catch {
    throw new Unreadable('', 'is no JSON', { fix: unchanged })
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function textOf(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw new Unreadable('', 'is no UTF-8', { fix: unchanged })
  }
}

function catchUnreadable(read: () => ClaimReading): ClaimReading {
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
