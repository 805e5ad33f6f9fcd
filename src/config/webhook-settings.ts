import { dirname, resolve } from 'node:path'
import { messageOf } from '../core/errors.ts'
import type { EnvironmentReader } from './environment.ts'
import { defaultWebhooks, type SchemeName, schemeNames, type WebhookSection } from './webhook-schema.ts'

/** A secret is valid for webhooks received from `notBefore` on and before `notAfter`; null is no bound. */
export type SecretSetting = { text: string; notBefore: Date | null; notAfter: Date | null }

/** How webhooks are signed, and the keys that verify their sender. */
export type WebhookAuthSettings = {
  signing: WebhookSection
  /** `publicKeys` is the text of the file that the section names. */
  keys: { secrets: readonly SecretSetting[]; publicKeys: string | null }
}

/** The scheme in the environment, for a file that names none. */
export function readSchemeName(reader: EnvironmentReader): SchemeName | null {
  return reader.optionalChoice('WEBHOOK_SCHEME', schemeNames)
}

/**
 * Reads the secrets and the key file that the section needs.
 * @param section null if the file has faults; its needs are unknown then
 */
export function readWebhooks(
  reader: EnvironmentReader,
  section: WebhookSection | null,
  readText: (path: string) => string,
): WebhookAuthSettings {
  if (section === null) return { signing: defaultWebhooks, keys: { secrets: [], publicKeys: null } }
  const named = readSchemeName(reader)
  if (named !== null && named !== section.scheme)
    reader.faults.push(
      `WEBHOOK_SCHEME is ${named}, and DEPOSITD_CONFIG says webhooks.scheme ${section.scheme}; keep one`,
    )
  const publicKeys =
    section.scheme === 'public-key' ? readPublicKeys(reader, section.publicKeys, readText) : null
  return { signing: section, keys: { secrets: readSecrets(reader, section.scheme), publicKeys } }
}

/** The path is relative to the settings file, not to the working directory. */
function readPublicKeys(reader: EnvironmentReader, path: string, readText: (path: string) => string): string {
  try {
    return readText(resolve(dirname(reader.optional('DEPOSITD_CONFIG') ?? ''), path))
  } catch (error) {
    reader.faults.push(`DEPOSITD_CONFIG, webhooks.publicKeys cannot be read: ${messageOf(error)}`)
    return ''
  }
}

function readSecrets(reader: EnvironmentReader, scheme: SchemeName): SecretSetting[] {
  const name = 'WEBHOOK_SECRETS'
  if (scheme !== 'none' && scheme !== 'public-key') return parseSecrets(reader.text(name), reader.faults)
  // An operator who sets a secret expects it to protect.
  if (reader.optional(name) !== undefined)
    reader.faults.push(
      `${name} is set, and webhooks.scheme ${scheme} uses none; unset it or choose another scheme`,
    )
  return []
}

/** Parses secrets separated by commas or line breaks. No fault contains a secret. */
export function parseSecrets(text: string, faults: string[]): SecretSetting[] {
  if (text === '') return []
  const entries = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => line.split(','))
    .map((entry) => entry.trim())
  if (entries.includes('')) faults.push('WEBHOOK_SECRETS has an empty place in its list')
  return entries.map((entry, place) => {
    const { secret, problem } = parseSecret(entry)
    if (problem !== null) faults.push(`WEBHOOK_SECRETS: secret ${place + 1} ${problem}`)
    return secret
  })
}

const entryForm = /^([^]*?)((?:\s+not-(?:before|after)=\S*)*)$/

function parseSecret(entry: string): { secret: SecretSetting; problem: string | null } {
  const [, text = '', bounds = ''] = entryForm.exec(entry) ?? []
  const secret = { text, notBefore: boundOf(bounds, 'not-before'), notAfter: boundOf(bounds, 'not-after') }
  return { secret, problem: problemOf(secret, bounds) }
}

function problemOf({ text, notBefore, notAfter }: SecretSetting, bounds: string): string | null {
  // A misspelt bound would otherwise become part of the secret, which would then match no signature.
  if (/\snot-?\w*\s*=/i.test(text))
    return 'takes not-before=TIME and not-after=TIME, each once, after the secret'
  if ((bounds.match(/not-before/g) ?? []).length > 1 || (bounds.match(/not-after/g) ?? []).length > 1)
    return 'has a bound more than once'
  if ([notBefore, notAfter].some((time) => time !== null && Number.isNaN(time.getTime())))
    return 'has a bound that is no time like 2026-12-01T00:00:00Z'
  const isNever = notBefore !== null && notAfter !== null && notAfter <= notBefore
  return isNever ? 'ends before it begins' : null
}

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/

function boundOf(bounds: string, name: 'not-before' | 'not-after'): Date | null {
  const [, text] = new RegExp(`\\s${name}=(\\S*)`).exec(bounds) ?? []
  if (text === undefined) return null
  return new Date(timeForm.test(text) ? text : Number.NaN)
}
