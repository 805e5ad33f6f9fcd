import type { KeyObject } from 'node:crypto'
import { asHmac, hmacsOf } from './hmac.ts'
import { isValidAt, keyForms } from './keys.ts'
import type { HmacSettings, SchemeSettings, Secret, TimestampSettings } from './scheme.ts'
import { fillTemplate, requestValues } from './signed-scheme.ts'

/** `id` is visible ASCII without punctuation, which a template could use as a separator. It is posted to `url`. */
export type UnsignedDelivery = { id: string; body: Buffer; at: Date; url: string }

type SchemeWithSecrets = { settings: SchemeSettings; secrets: readonly Secret[] }

/**
 * With the first secret valid at that time.
 * @returns null if no key can sign, as with public keys
 */
export function signDelivery(
  { settings, secrets }: SchemeWithSecrets,
  unsigned: UnsignedDelivery,
): Record<string, string> | null {
  if (settings.scheme === 'none' || settings.scheme === 'capture') return {}
  if (settings.scheme === 'public-key') return null
  const counting = secrets.filter(isValidAt(unsigned.at))
  if (settings.scheme === 'shared-secret') {
    const [secret] = counting
    return secret === undefined ? null : { [settings.header]: settings.prefix + secret.text }
  }
  const hmac = asHmac(settings)
  const key = counting.map(({ text }) => keyForms[hmac.key].parse(text)).find((one) => one !== null)
  return key === undefined ? null : headersOf(hmac, key, unsigned)
}

function headersOf(
  settings: HmacSettings,
  key: KeyObject,
  { id, body, at, url }: UnsignedDelivery,
): Record<string, string> {
  const { header, field, prefix, template, timestamp, publicUrl, algorithm, encoding } = settings
  const time = timestamp === undefined ? '' : spelled[timestamp.unit](at)
  const line = { ':method': 'POST', ':path': pathOf(url, publicUrl) }
  const around = fillTemplate(template, { id, timestamp: time, ...requestValues(line, publicUrl) })
  const signed = { ...around, body, signatures: '', receivedAt: at }
  const [signature = ''] = hmacsOf([key], { signed, algorithm, encoding })
  const pairs = [
    [settings.id?.header, id] as const,
    [timestamp?.header, inField(timestamp?.field, time)] as const,
    [header, inField(field, prefix + signature)] as const,
  ]
  // Several values of one header form a list such as t=…,v1=….
  return pairs.reduce<Record<string, string>>((headers, [name, value]) => {
    if (name === undefined) return headers
    const before = headers[name]
    return { ...headers, [name]: before === undefined ? value : `${before},${value}` }
  }, {})
}

/** As depositd receives it: behind a public URL with a path, the proxy removes that path. */
function pathOf(url: string, publicUrl = ''): string {
  if (publicUrl !== '' && url.startsWith(`${publicUrl}/`)) return url.slice(publicUrl.length)
  const { pathname, search } = new URL(url)
  return pathname + search
}

function inField(field: string | undefined, value: string): string {
  return field === undefined ? value : `${field}=${value}`
}

const spelled: Record<TimestampSettings['unit'], (at: Date) => string> = {
  s: (at) => Math.floor(at.getTime() / 1000).toString(),
  ms: (at) => at.getTime().toString(),
  iso: (at) => at.toISOString(),
}
