import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { webhookSection } from '../../config/webhook-settings.ts'
import { isFault } from '../../core/errors.ts'
import { createScheme } from '../signature/create-scheme.ts'
import type {
  Keys,
  SchemeSettings,
  SignatureScheme,
  TimestampSettings,
  WebhookDelivery,
} from '../signature/scheme.ts'
import { anyAge, candidates, type DetectionFacts, requestCandidates } from './candidates.ts'

export type Detection =
  | {
      kind: 'found'
      settings: SchemeSettings
      /** Indexes, in order. */
      verified: readonly number[]
      /** Verified captures that need a longer tolerance. */
      late: number
      /** These verify as many captures. */
      alike: readonly SchemeSettings[]
    }
  | { kind: 'none'; tried: number }

/** `source` identifies the client. */
export type CapturedDelivery = WebhookDelivery & { source?: string }

/** All captures are verified. */
const searchedMax = 60
const searchedOfKind = 10
/** Anyone can fill the quarantine, so its content must not keep the search busy for long. */
const candidatesMax = 100_000
const hashedBytesMax = 1024 * 1024 * 1024

/** In milliseconds. */
const usualTolerance = 300_000

/**
 * Tries all settings that the headers allow with the real verifier. No signature is right by chance.
 * @param publicUrl if null, the host of each delivery is tried
 */
export function detectScheme(
  captures: readonly CapturedDelivery[],
  keys: Keys,
  publicUrl: string | null = null,
): Detection {
  const secrets = keys.secrets.map(({ text }) => text)
  const deliveries = captures.map(
    (capture): CapturedDelivery => ({ ...capture, ...restoreSecrets(capture, secrets) }),
  )
  let tried = 0
  for (const delivery of toSearch(deliveries)) {
    const facts = { delivery, keys, known: { secrets, publicUrl }, triesMax: candidatesFor(delivery) }
    const first = tryAll(candidates, facts)
    // Those that sign the request line are many.
    const isFound = first.hits.some(isSigned)
    const more = isFound
      ? none
      : tryAll(requestCandidates, { ...facts, triesMax: facts.triesMax - first.tried })
    tried += first.tried + more.tried
    const best = bestOf([...first.hits, ...more.hits], deliveries, keys)
    if (best !== null) return best
  }
  return { kind: 'none', tried }
}

type Tries = { hits: SchemeSettings[]; tried: number }
const none: Tries = { hits: [], tried: 0 }

type SearchFacts = { delivery: WebhookDelivery; keys: Keys; known: DetectionFacts; triesMax: number }

function tryAll(candidatesOf: typeof candidates, { delivery, keys, known, triesMax }: SearchFacts): Tries {
  const hits: SchemeSettings[] = []
  let tried = 0
  for (const settings of candidatesOf(delivery, known).take(triesMax)) {
    tried++
    if (schemeOf(settings, keys)?.(delivery).kind === 'verified') hits.push(settings)
  }
  return { hits, tried }
}

/** Each candidate hashes the body. */
function candidatesFor({ body }: WebhookDelivery): number {
  return Math.min(candidatesMax, Math.floor(hashedBytesMax / Math.max(1, body.length)))
}

/** Alternates, so that a busy sender does not hide the others. */
function toSearch(captures: readonly CapturedDelivery[]): CapturedDelivery[] {
  const clients = [...Map.groupBy(captures, ({ source = '' }) => source).values()]
  return inTurns(clients.map((ofClient) => inTurns(kindsOf(ofClient))))
    .slice(0, searchedMax)
    .toSorted((one, other) => one.body.length - other.body.length)
}

/** By header names, and sampled evenly over time. */
function kindsOf(captures: readonly CapturedDelivery[]): CapturedDelivery[][] {
  const kinds = Map.groupBy(captures, ({ headers }) => Object.keys(headers).toSorted().join())
  return [...kinds.values()].map((kind) => {
    const step = Math.max(1, kind.length / searchedOfKind)
    return kind.filter((_capture, place) => place % step < 1)
  })
}

function inTurns<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const length = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length }).flatMap((_, turn) => lists.flatMap((list) => list.slice(turn, turn + 1)))
}

function schemeOf(settings: SchemeSettings, keys: Keys): SignatureScheme | null {
  try {
    return createScheme(settings, keys)
  } catch (error) {
    if (isFault(error, 'settings_bad')) return null
    throw error
  }
}

function bestOf(
  hits: readonly SchemeSettings[],
  deliveries: readonly WebhookDelivery[],
  keys: Keys,
): Detection | null {
  const counted = hits
    .map((settings) => ({ settings, verified: verifiedBy(settings, deliveries, keys) }))
    .toSorted(
      (one, other) =>
        Number(isSigned(other.settings)) - Number(isSigned(one.settings)) ||
        other.verified.length - one.verified.length ||
        signedPlaces(other.settings) - signedPlaces(one.settings),
    )
  const [best] = counted
  if (best === undefined) return null
  const settings = withTolerance(best.settings, usualTolerance)
  const inTime = verifiedBy(settings, deliveries, keys)
  return {
    kind: 'found',
    settings,
    verified: best.verified,
    late: best.verified.length - inTime.length,
    alike: counted
      .filter((one) => one !== best && one.verified.length === best.verified.length)
      .filter(({ settings: other }) => isSigned(other) === isSigned(best.settings))
      .filter((one) => !saysTheSame(best.settings, one.settings))
      .map((one) => withTolerance(one.settings, usualTolerance)),
  }
}

/** No signature is right by chance, but an unrelated header may happen to end in a secret. */
function isSigned({ scheme }: SchemeSettings): boolean {
  return scheme !== 'shared-secret'
}

/** A signature over more is preferred. */
function signedPlaces(settings: SchemeSettings): number {
  if ('headers' in settings) return 3
  if ('template' in settings) return settings.template.split(/\{\w+\}/).length - 1
  if (settings.scheme === 'hubspot') return 4
  return settings.scheme === 'stripe' || settings.scheme === 'square' ? 2 : 1
}

/** The generic form of a well-known scheme is found as well. */
function saysTheSame(named: SchemeSettings, other: SchemeSettings): boolean {
  if ('template' in named) return false
  return named.scheme !== other.scheme && 'header' in other && other.scheme !== 'shared-secret'
}

function verifiedBy(settings: SchemeSettings, deliveries: readonly WebhookDelivery[], keys: Keys): number[] {
  const scheme = schemeOf(settings, keys)
  return [...deliveries.keys()].filter((place) => {
    const delivery = deliveries[place]
    return delivery !== undefined && scheme?.(delivery).kind === 'verified'
  })
}

function withTolerance(settings: SchemeSettings, tolerance: number): SchemeSettings {
  return 'tolerance' in settings && settings.tolerance === anyAge ? { ...settings, tolerance } : settings
}

const usualPrefixes = ['', 'Bearer ', 'bearer ', 'Token ', 'token ', 'ApiKey ', 'Basic ', 'Secret ']

/** The quarantine stores credentials as `sha256:` and hexadecimal digits; a holder of the secret can restore them. */
export function restoreSecrets<Kept extends WebhookDelivery>(
  delivery: Kept,
  secrets: readonly string[],
): Kept {
  const known = new Map(
    secrets.flatMap((secret) =>
      usualPrefixes.map((prefix) => [`sha256:${hash(prefix + secret)}`, prefix + secret]),
    ),
  )
  const headers = Object.entries(delivery.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? (known.get(value) ?? value) : value,
  ])
  return { ...delivery, headers: Object.fromEntries(headers) as WebhookDelivery['headers'] }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Without defaults. */
export function toSection(settings: SchemeSettings, publicKeysPath: string | null): Record<string, unknown> {
  const whole = Object.entries({
    ...settings,
    ...('tolerance' in settings && { tolerance: `${settings.tolerance / 60_000}m` }),
    ...('timestamp' in settings && settings.timestamp && { timestamp: withoutSeconds(settings.timestamp) }),
    ...(settings.scheme === 'public-key' && { publicKeys: publicKeysPath }),
  })
  const parsed = (entries: typeof whole) => webhookSection.safeParse(Object.fromEntries(entries)).data
  const isNeeded = ([name]: (typeof whole)[number]) =>
    !isDeepStrictEqual(parsed(whole.filter(([other]) => other !== name)), parsed(whole))
  return Object.fromEntries(whole.filter(isNeeded))
}

function withoutSeconds({ unit, ...place }: TimestampSettings): object {
  return unit === 's' ? place : { ...place, unit }
}
