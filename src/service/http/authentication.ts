import { findApiKey } from '../api-keys.ts'
import type { Scope, ServiceDatabase } from '../tables.ts'
import { refusal } from './problem.ts'

/** Lets a request pass, or throws its refusal: 401 without a known key, 403 where the key's scope is too small. */
export type Authenticate = (presented: string | undefined, needed: Scope) => Promise<void>

/** The key is looked up anew for each request, so that one that is revoked is refused at once. */
export function openAuthentication(db: ServiceDatabase): Authenticate {
  return async (presented, needed) => {
    if (presented === undefined || presented === '') {
      throw refusal('key_missing', 'send the API key in the X-API-KEY header')
    }
    const key = await findApiKey(db, presented)
    if (key === null) throw refusal('key_unknown', 'the key in X-API-KEY was not issued here, or was revoked')
    if (needed === 'write' && key.scope !== 'write') {
      throw refusal('scope_insufficient', 'this needs a key with the write scope')
    }
  }
}
