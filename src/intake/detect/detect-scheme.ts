import { isFault } from '../../core/errors.ts'
import { createScheme } from '../signature/create-scheme.ts'
import type { Keys, SchemeSettings, SignatureScheme, WebhookDelivery } from '../signature/scheme.ts'
import { anyAge, candidates } from './candidates.ts'
import { restoreSecrets } from './restore-secrets.ts'

export type Detection =
  | {
      kind: 'found'
      /** With the usual tolerance, or the one that all of the verified captures need. */
      settings: SchemeSettings
      /** Places of the captures that it verifies, in their order. */
      verified: readonly number[]
      /** Of the verified ones, how many were received longer after they were signed than is usual. */
      late: number
      /** The others that verify as many: nothing in the captures tells them apart. */
      alike: readonly SchemeSettings[]
    }
  | { kind: 'none'; tried: number }

/** A delivery as it was kept; `source` names the client, where that was kept too. */
export type CapturedDelivery = WebhookDelivery & { source?: string }

/** So many are searched; all are verified. */
const searchedMax = 60
const searchedOfKind = 10
/** Strangers choose what they send to a quarantine; what they send may not keep the search busy for long. */
const candidatesMax = 100_000
const hashedBytesMax = 1024 * 1024 * 1024

/** Milliseconds. */
const usualTolerance = 300_000

/**
 * Finds the settings under which the most captures verify, by trying all that their headers allow. A setting found
 * is proved: it is the verifier itself that is tried, and no signature comes out right by chance.
 */
export function detectScheme(captures: readonly CapturedDelivery[], keys: Keys): Detection {
  const secrets = keys.secrets.map(({ text }) => text)
  const deliveries = captures.map(
    (capture): CapturedDelivery => ({ ...capture, ...restoreSecrets(capture, secrets) }),
  )
  let tried = 0
  for (const delivery of toSearch(deliveries)) {
    const hits: SchemeSettings[] = []
    for (const settings of candidates(delivery, secrets).take(candidatesFor(delivery))) {
      tried++
      if (schemeOf(settings, keys)?.(delivery).kind === 'verified') hits.push(settings)
    }
    const best = bestOf(hits, deliveries, keys)
    if (best !== null) return best
  }
  return { kind: 'none', tried }
}

/** Each candidate hashes the body. */
function candidatesFor({ body }: WebhookDelivery): number {
  return Math.min(candidatesMax, Math.floor(hashedBytesMax / Math.max(1, body.length)))
}

/** Clients take turns, and so do the kinds of requests of each: whoever sends the most hides nobody. */
function toSearch(captures: readonly CapturedDelivery[]): CapturedDelivery[] {
  const clients = [...Map.groupBy(captures, ({ source = '' }) => source).values()]
  return inTurns(clients.map((ofClient) => inTurns(kindsOf(ofClient))))
    .slice(0, searchedMax)
    .toSorted((one, other) => one.body.length - other.body.length)
}

/** A kind is told by the names of its headers. Of each there are some, from all over the time in which they came. */
function kindsOf(captures: readonly CapturedDelivery[]): CapturedDelivery[][] {
  const kinds = Map.groupBy(captures, ({ headers }) => Object.keys(headers).toSorted().join())
  return [...kinds.values()].map((kind) => {
    const step = Math.max(1, kind.length / searchedOfKind)
    return kind.filter((_capture, place) => place % step < 1)
  })
}

/** The first of each list, the second of each, and so on. */
function inTurns<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const length = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length }).flatMap((_, turn) => lists.flatMap((list) => list.slice(turn, turn + 1)))
}

/** Null where the secret or key cannot be one of this scheme. */
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

/** No signature comes out right by chance; a secret may stand at the end of a header that has nothing to do with it. */
function isSigned({ scheme }: SchemeSettings): boolean {
  return scheme !== 'shared-secret'
}

/** Of id, time and body, how many are signed: of two signatures the better one is for whoever can verify it. */
function signedPlaces(settings: SchemeSettings): number {
  if ('headers' in settings) return 3
  if ('template' in settings) return settings.template.split(/\{(?:id|timestamp|body)\}/).length - 1
  return settings.scheme === 'stripe' ? 2 : 1
}

/** A scheme with a name of its own is found by its parts, too. */
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
