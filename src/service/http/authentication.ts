import type { Request, Response } from 'express'
import { networkOf, plainAddress } from '../../http/client-address.ts'
import { createTokenBuckets, type RateLimit, type RateLimitVerdict } from '../../http/token-buckets.ts'
import { findApiKey, hashApiKey } from '../api-keys.ts'
import type { ApiScope, ServiceDatabase } from '../tables.ts'
import { refusal } from './problem.ts'

/** Throws a refusal: 401 without a valid key, 403 if its scope is insufficient, or 429. */
export type Authenticate = (request: Request, response: Response, needed: ApiScope) => Promise<void>

/** Enough for ten thousand creations in a row. */
export const rateLimitDefault: RateLimit = { perSecond: 1000, burst: 5000 }

/** By address: at one guess per second, a 192-bit secret cannot be found. */
export const unknownKeysLimit: RateLimit = { perSecond: 1, burst: 50 }

/**
 * Looks up each key, so that a revoked one is rejected at once. An address that sent too many unknown keys is refused,
 * except for keys that were valid before: behind a proxy all callers share one address.
 */
export function openAuthentication(db: ServiceDatabase, limit: RateLimit = rateLimitDefault): Authenticate {
  const perKey = createTokenBuckets(limit)
  const perAddress = createTokenBuckets(unknownKeysLimit)
  const good = new Set<string>()
  const identify = async (presented: string, address: string) => {
    const name = hashApiKey(presented).toString('hex')
    const guess = good.has(name) ? null : perAddress.take(address, performance.now())
    if (guess?.allowed === false)
      throw tooMany('too many requests with unknown keys from this address', guess)
    const key = await findApiKey(db, presented)
    if (key === null) {
      good.delete(name)
      throw unauthenticated('key_unknown', 'the API key in X-API-KEY is unknown or revoked')
    }
    good.add(name)
    if (guess !== null) perAddress.giveBack(address, performance.now())
    return key
  }
  return async (request, response, needed) => {
    const presented = request.get('x-api-key') ?? ''
    if (presented === '') throw unauthenticated('key_missing', 'send the API key in the X-API-KEY header')
    const key = await identify(presented, networkOf(plainAddress(request.socket.remoteAddress ?? '')))
    const verdict = perKey.take(key.id, performance.now())
    response.set({
      'ratelimit-limit': String(limit.burst),
      'ratelimit-remaining': String(verdict.remaining),
      'ratelimit-reset': String(verdict.resetSeconds),
    })
    if (!verdict.allowed)
      throw tooMany(`this key is limited to ${limit.perSecond} requests per second`, verdict)
    if (needed === 'write' && key.scope !== 'write') {
      throw refusal('scope_insufficient', 'this operation requires an API key with the write scope')
    }
  }
}

/** RFC 9110 requires a challenge. This scheme has no registered name. */
function unauthenticated(code: 'key_missing' | 'key_unknown', detail: string) {
  return refusal(code, detail, { headers: { 'www-authenticate': 'ApiKey header="X-API-KEY"' } })
}

function tooMany(detail: string, { retryAfterSeconds }: RateLimitVerdict) {
  return refusal('rate_limited', detail, { headers: { 'retry-after': String(retryAfterSeconds) } })
}
