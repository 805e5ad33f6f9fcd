import { createHash } from 'node:crypto'
import type { Request } from 'express'
import { networkOf, plainAddress } from './client-address.ts'
import { count, type OpenApiObject } from './open-api.ts'
import type { Exchange } from './route-handler.ts'
import { createTokenBuckets, type RateLimit, type RateLimitVerdict } from './token-buckets.ts'

export type KeyCheckParts<Key> = {
  /** Of each key. */
  limit: RateLimit
  /** Empty if none was sent. */
  presented: (request: Request) => string
  /** Null if it is unknown or revoked. */
  find: (presented: string) => Promise<Key | null>
  /** How long a key that was found counts without being looked up again, in milliseconds; not at all by default. */
  goodForMs?: number
  refuse: {
    missing: () => Error
    unknown: () => Error
    tooMany: (detail: string, headers: Readonly<Record<string, string>>) => Error
  }
}

/** By address: at one guess per second, a secret of 192 bits cannot be found. */
export const unknownKeysLimit: RateLimit = { perSecond: 1, burst: 50 }

export const limitHeaders: OpenApiObject = {
  'RateLimit-Limit': { required: true, description: 'Maximum number of requests at once.', schema: count },
  'RateLimit-Remaining': { required: true, description: 'Remaining requests.', schema: count },
  'RateLimit-Reset': {
    required: true,
    description: 'Seconds until the limit is fully restored.',
    schema: count,
  },
}

/**
 * A revoked key is refused after `goodForMs` at the latest. An address that sent too many unknown keys is refused, except for
 * keys that were valid before: behind a proxy all callers share one address.
 */
export function createKeyCheck<Key extends { id: string | bigint }>({
  limit,
  presented,
  find,
  goodForMs = 0,
  refuse,
}: KeyCheckParts<Key>): (exchange: Exchange) => Promise<Key> {
  const perKey = createTokenBuckets(limit)
  const perAddress = createTokenBuckets(unknownKeysLimit)
  const good = new Map<string, { key: Key; until: number }>()
  const tooMany = (detail: string, { retryAfterSeconds }: RateLimitVerdict) =>
    refuse.tooMany(detail, { 'retry-after': String(retryAfterSeconds) })
  const identify = async (text: string, address: string): Promise<Key> => {
    const name = createHash('sha256').update(text).digest('base64')
    const known = good.get(name)
    if (known !== undefined && performance.now() < known.until) return known.key
    const guess = known === undefined ? perAddress.take(address, performance.now()) : null
    if (guess?.allowed === false)
      throw tooMany('too many requests with unknown keys from this address', guess)
    const key = await find(text)
    if (key === null) {
      good.delete(name)
      throw refuse.unknown()
    }
    good.set(name, { key, until: performance.now() + goodForMs })
    if (guess !== null) perAddress.giveBack(address, performance.now())
    return key
  }
  return async ({ request, response }) => {
    const text = presented(request)
    if (text === '') throw refuse.missing()
    const key = await identify(text, networkOf(plainAddress(request.socket.remoteAddress ?? '')))
    const verdict = perKey.take(String(key.id), performance.now())
    response.set({
      'ratelimit-limit': String(limit.burst),
      'ratelimit-remaining': String(verdict.remaining),
      'ratelimit-reset': String(verdict.resetSeconds),
    })
    if (!verdict.allowed)
      throw tooMany(`this key is limited to ${limit.perSecond} requests per second`, verdict)
    return key
  }
}
