import { isDeepStrictEqual } from 'node:util'
import { Fault, messageOf } from '../core/errors.ts'
import { createScheme } from './signature/create-scheme.ts'
import type { Keys, SchemeSettings, Secret, SignatureScheme } from './signature/scheme.ts'

/** How webhooks are signed, and by what their sender is recognised. */
export type SchemeConfig = { signing: SchemeSettings; keys: Keys }

/** `refused`: what the settings say now cannot be used, and the scheme is the one from before. */
export type LiveSchemeEvent =
  | { kind: 'opened' | 'changed' | 'unchanged'; scheme: SchemeSettings['scheme'] }
  | { kind: 'refused'; error: unknown }

type LiveSchemeOptions = {
  /** Reads the settings anew. @throws Fault `settings_bad` */
  read: () => SchemeConfig
  everyMs: number
  now: () => Date
  report: (event: LiveSchemeEvent) => void
}

export type LiveScheme = {
  verify: SignatureScheme
  /** The settings in force. */
  signing: () => SchemeSettings
  secrets: () => readonly Secret[]
  /** Reads the settings now, and says what came of it even where nothing changed. */
  reload: () => void
  stop: () => void
}

/**
 * A scheme that follows its settings while it is in use. What is read is compared, not the time of a file: a mounted
 * secret changes by a link that is moved, and some file systems give no notice.
 * @throws Fault `settings_bad` where the first settings cannot be used.
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
  // A fault that stays is told once, not at every look.
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

/** @throws Fault `settings_bad` where a secret or a key does not fit the scheme, or none counts any more. */
export function openScheme({ signing, keys }: SchemeConfig, now: Date): SignatureScheme {
  const ends = keys.secrets.map(({ notAfter }) => notAfter)
  if (ends.length > 0 && ends.every((end) => end !== null && end <= now)) {
    throw new Fault('settings_bad', {
      faults: ['WEBHOOK_SECRETS: every secret has ended; give one that counts'],
    })
  }
  return createScheme(signing, keys)
}
