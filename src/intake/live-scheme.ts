import { isDeepStrictEqual } from 'node:util'
import { Fault, messageOf } from '../core/errors.ts'
import type { ServiceName } from '../core/evidence.ts'
import { createScheme } from './signature/create-scheme.ts'
import type { Keys, SchemeSettings, Secret, SignatureScheme } from './signature/scheme.ts'

export type SchemeConfig = { signing: SchemeSettings; keys: Keys }

/** `refused`: the current settings are unusable, so the previous scheme stays active. */
export type LiveSchemeEvent =
  | { kind: 'opened' | 'changed' | 'unchanged'; scheme: SchemeSettings['scheme'] }
  | { kind: 'refused'; error: unknown }

type LiveSchemeOptions = {
  /** @throws Fault `settings_bad` */
  read: () => SchemeConfig
  everyMs: number
  now: () => Date
  report: (event: LiveSchemeEvent) => void
}

export type LiveScheme = {
  verify: SignatureScheme
  signing: () => SchemeSettings
  secrets: () => readonly Secret[]
  reload: () => void
  stop: () => void
}

/** By service. */
export type LiveSchemes = ReadonlyMap<ServiceName, LiveScheme>

/**
 * Follows its settings at runtime. Compares contents, not file times: a mounted secret changes by moving a symlink, and
 * some file systems send no notifications.
 * @throws Fault `settings_bad` if the initial settings are unusable
 */
export function createLiveScheme(
  first: SchemeConfig,
  { read, everyMs, now, report }: LiveSchemeOptions,
): LiveScheme {
  let current = first
  let verify = openScheme(first, now())
  let problem = ''

  const follow = (): LiveSchemeEvent => {
    try {
      const next = read()
      const { scheme } = next.signing
      if (isDeepStrictEqual(next, current)) return { kind: 'unchanged', scheme }
      verify = openScheme(next, now())
      current = next
      return { kind: 'changed', scheme }
    } catch (error) {
      return { kind: 'refused', error }
    }
  }
  // Reports a persistent error once, not at every check.
  const look = () => {
    const event = follow()
    const found = event.kind === 'refused' ? messageOf(event.error) : ''
    if (event.kind === 'changed' || (event.kind === 'refused' && found !== problem)) report(event)
    problem = found
  }
  const timer = setInterval(look, everyMs)
  timer.unref()
  report({ kind: 'opened', scheme: first.signing.scheme })

  return {
    verify: (delivery) => verify(delivery),
    signing: () => current.signing,
    secrets: () => current.keys.secrets,
    reload: () => report(follow()),
    stop: () => clearInterval(timer),
  }
}

/** @throws Fault `settings_bad` if a secret or key does not fit the scheme, or all secrets have expired */
export function openScheme({ signing, keys }: SchemeConfig, now: Date): SignatureScheme {
  const ends = keys.secrets.map(({ notAfter }) => notAfter)
  if (ends.length > 0 && ends.every((end) => end !== null && end <= now)) {
    throw new Fault('settings_bad', {
      faults: ['WEBHOOK_SECRETS: every secret has ended; give one that counts'],
    })
  }
  return createScheme(signing, keys)
}
