import type { KeyObject } from 'node:crypto'
import { github, hmacsOf, stripe } from './hmac.ts'
import { keyForms } from './keys.ts'
import type { HmacSettings, SchemeSettings, Secret, TimestampSettings } from './scheme.ts'

/** `id` is visible ASCII without punctuation, which a template could use as a separator. */
export type UnsignedDelivery = { id: string; body: Buffer; at: Date }

type SchemeWithSecrets = { settings: SchemeSettings; secrets: readonly Secret[] }

/**
 * With the first secret valid at that time.
 * @returns null if no key can sign, as with public keys
 */
export function signDelivery(
  { settings, secrets }: SchemeWithSecrets,
  unsigned: UnsignedDelivery,
): Record<string, string> | null {
  if (settings.scheme === 'none') return {}
  if (settings.scheme === 'public-key') return null
  const counting = secrets.filter(({ notBefore, notAfter }) => countsAt(unsigned.at, notBefore, notAfter))
  if (settings.scheme === 'shared-secret') {
    const [secret] = counting
    return secret === undefined ? null : { [settings.header]: settings.prefix + secret.text }
  }
  const hmac = hmacOf(settings)
  const key = counting.map(({ text }) => keyForms[hmac.key].parse(text)).find((one) => one !== null)
  return key === undefined ? null : headersOf(hmac, key, unsigned)
}

function countsAt(at: Date, notBefore: Date | null, notAfter: Date | null): boolean {
  return (notBefore === null || notBefore <= at) && (notAfter === null || at < notAfter)
}

type Symmetric = Exclude<SchemeSettings, { scheme: 'none' | 'public-key' | 'shared-secret' }>

function hmacOf(settings: Symmetric): HmacSettings {
  if (settings.scheme === 'hmac') return settings
  if (settings.scheme === 'stripe') return stripe(settings)
  if (settings.scheme === 'github') return github(settings)
  const { headers, tolerance } = settings
  return {
    scheme: 'hmac',
    header: `${headers}-signature`,
    prefix: 'v1,',
    template: '{id}.{timestamp}.{body}',
    id: { header: `${headers}-id` },
    timestamp: { header: `${headers}-timestamp`, unit: 's' },
    algorithm: 'sha256',
    encoding: 'base64',
    key: 'whsec',
    tolerance,
  }
}

function headersOf(
  settings: HmacSettings,
  key: KeyObject,
  { id, body, at }: UnsignedDelivery,
): Record<string, string> {
  const { header, field, prefix, template, timestamp, algorithm, encoding } = settings
  const time = timestamp === undefined ? '' : spelled[timestamp.unit](at)
  const fill = (part = '') => part.replaceAll('{id}', () => id).replaceAll('{timestamp}', () => time)
  const [head, tail] = template.split('{body}').map(fill)
  const signed = { head: head ?? '', body, tail: tail ?? '', signatures: '', receivedAt: at }
  const [signature = ''] = hmacsOf([key], { signed, algorithm, encoding })
  const pairs: [string, string][] = [
    ...(settings.id === undefined ? [] : [[settings.id.header, id] as [string, string]]),
    ...(timestamp === undefined
      ? []
      : [[timestamp.header, inField(timestamp.field, time)] as [string, string]]),
    [header, inField(field, prefix + signature)],
  ]
  // Several values of one header form a list such as t=…,v1=….
  return pairs.reduce<Record<string, string>>((headers, [name, value]) => {
    const before = headers[name]
    return { ...headers, [name]: before === undefined ? value : `${before},${value}` }
  }, {})
}

function inField(field: string | undefined, value: string): string {
  return field === undefined ? value : `${field}=${value}`
}

const spelled: Record<TimestampSettings['unit'], (at: Date) => string> = {
  s: (at) => Math.floor(at.getTime() / 1000).toString(),
  ms: (at) => at.getTime().toString(),
  iso: (at) => at.toISOString(),
}
