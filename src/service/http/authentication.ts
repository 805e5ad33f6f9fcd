import { isIPv6 } from 'node:net'
import type { Request, Response } from 'express'
import { findApiKey, hashApiKey } from '../api-keys.ts'
import type { ApiScope, ServiceDatabase } from '../tables.ts'
import { refusal } from './problem.ts'
import { createRateLimiter, type RateLimit, type RateLimitVerdict } from './rate-limit.ts'

/** Lets a request pass, or throws its refusal: 401 without a known key, 403 where its scope is too small, or 429. */
export type Authenticate = (request: Request, response: Response, needed: ApiScope) => Promise<void>

/** Enough for a run of ten thousand creations; it holds up who has lost count, not who is in a hurry. */
export const rateLimitDefault: RateLimit = { perSecond: 1000, burst: 5000 }

/** Of keys that are not known, by address: nobody tries out secrets of 192 bits at one a second. */
export const unknownKeysLimit: RateLimit = { perSecond: 1, burst: 50 }

/**
 * The key is looked up anew for each request, so that one that is revoked is refused at once. An address that has
 * presented too many unknown keys is not heard with any other; keys that were good before pass, because behind a proxy
 * all callers have one address.
 */
export function openAuthentication(db: ServiceDatabase, limit: RateLimit = rateLimitDefault): Authenticate {
  const perKey = createRateLimiter(limit, () => performance.now())
  const perAddress = createRateLimiter(unknownKeysLimit, () => performance.now())
  const good = new Set<string>()
  const identify = async (presented: string, address: string) => {
    const name = hashApiKey(presented).toString('hex')
    const guess = good.has(name) ? null : perAddress.take(address)
    if (guess?.allowed === false) throw tooMany('too many unknown keys came from this address', guess)
    const key = await findApiKey(db, presented)
    if (key === null) {
      good.delete(name)
      throw unauthenticated('key_unknown', 'the key in X-API-KEY was not issued here, or was revoked')
    }
    good.add(name)
    if (guess !== null) perAddress.giveBack(address)
    return key
  }
  return async (request, response, needed) => {
    const presented = request.get('x-api-key') ?? ''
    if (presented === '') throw unauthenticated('key_missing', 'send the API key in the X-API-KEY header')
    const key = await identify(presented, networkOf(request.socket.remoteAddress ?? ''))
    const verdict = perKey.take(key.id)
    response.set({
      'ratelimit-limit': String(limit.burst),
      'ratelimit-remaining': String(verdict.remaining),
      'ratelimit-reset': String(verdict.resetSeconds),
    })
    if (!verdict.allowed) throw tooMany(`this key may call ${limit.perSecond} times a second`, verdict)
    if (needed === 'write' && key.scope !== 'write') {
      throw refusal('scope_insufficient', 'this needs a key with the write scope')
    }
  }
}

/** RFC 9110 asks every 401 to name a way in; ours has no registered name. */
function unauthenticated(code: 'key_missing' | 'key_unknown', detail: string) {
  return refusal(code, detail, { headers: { 'www-authenticate': 'ApiKey header="X-API-KEY"' } })
}

function tooMany(detail: string, { retryAfterSeconds }: RateLimitVerdict) {
  return refusal('rate_limited', detail, { headers: { 'retry-after': String(retryAfterSeconds) } })
}

/**
 * What one caller holds: an IPv4 address, or the /64 of an IPv6 one, of which everybody has as many addresses as they
 * like.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  const [head = '', tail] = bare.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}
