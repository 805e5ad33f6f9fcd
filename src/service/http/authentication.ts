import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiKey, Scope } from '../settings.ts'
import { refusal } from './problem.ts'

/** Lets a request pass, or throws its refusal: 401 without a known key, 403 where the key's scope is too small. */
export type Authenticate = (presented: string | undefined, needed: Scope) => void

/** Keeps hashes only. Every key is compared, in constant time, so that the time taken tells nothing about them. */
export function openAuthentication(apiKeys: readonly ApiKey[]): Authenticate {
  const hashed = apiKeys.map(({ key, scope }) => ({ hash: hash(key), scope }))
  return (presented, needed) => {
    if (presented === undefined || presented === '') {
      throw refusal('key_missing', 'send the API key in the X-API-KEY header')
    }
    const presentedHash = hash(presented)
    const matches = hashed.filter((known) => timingSafeEqual(known.hash, presentedHash))
    const scope = matches[0]?.scope
    if (scope === undefined)
      throw refusal('key_unknown', 'the key in X-API-KEY was not issued here, or was revoked')
    if (needed === 'write' && scope !== 'write') {
      throw refusal('scope_insufficient', 'this needs a key with the write scope')
    }
  }
}

function hash(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
