import type { Request } from 'express'
import { createKeyCheck } from '../../http/key-check.ts'
import type { Exchange } from '../../http/route-handler.ts'
import type { RateLimit } from '../../http/token-buckets.ts'
import { findApiKey } from '../api-keys.ts'
import type { ApiScope, ServiceDatabase } from '../tables.ts'
import { refusal } from './problem.ts'

/** Throws a refusal: 401 without a valid key, 403 if its scope is insufficient, or 429. */
export type Authenticate = (exchange: Exchange, needed: ApiScope) => Promise<void>

/** Enough for ten thousand creations in a row. */
const rateLimitDefault: RateLimit = { perSecond: 1000, burst: 5000 }

export function openAuthentication(db: ServiceDatabase, limit: RateLimit = rateLimitDefault): Authenticate {
  const check = createKeyCheck({
    limit,
    presented: (request: Request) => request.get('x-api-key') ?? '',
    find: (text) => findApiKey(db, text),
    refuse: {
      missing: () => unauthenticated('key_missing', 'send the API key in the X-API-KEY header'),
      unknown: () => unauthenticated('key_unknown', 'the API key in X-API-KEY is unknown or revoked'),
      tooMany: (detail, headers) => refusal('rate_limited', detail, { headers }),
    },
  })
  return async (exchange, needed) => {
    const key = await check(exchange)
    if (needed === 'write' && key.scope !== 'write') {
      throw refusal('scope_insufficient', 'this operation requires an API key with the write scope')
    }
  }
}

/** RFC 9110 requires a challenge. This scheme has no registered name. */
function unauthenticated(code: 'key_missing' | 'key_unknown', detail: string) {
  return refusal(code, detail, { headers: { 'www-authenticate': 'ApiKey header="X-API-KEY"' } })
}
