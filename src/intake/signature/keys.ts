import { createSecretKey, type KeyObject } from 'node:crypto'
import { Fault } from '../../core/errors.ts'
import type { HmacSettings, Keys, Secret } from './scheme.ts'

type Validity = Pick<Secret, 'notBefore' | 'notAfter'>
export type DatedKey<Key = KeyObject> = Validity & { key: Key }

export function isValidAt(at: Date): (validity: Validity) => boolean {
  return ({ notBefore, notAfter }) =>
    (notBefore === null || notBefore <= at) && (notAfter === null || at < notAfter)
}

export function keysAt<Key>(keys: readonly DatedKey<Key>[], at: Date): Key[] {
  return keys.filter(isValidAt(at)).map(({ key }) => key)
}

type SecretFormat<Key> = { parse: (text: string) => Key | null; form: string }

/**
 * Once: a signature with a `KeyObject` costs about a sixth of one with a string key.
 * @throws Fault `settings_bad` that names each secret by its position, never by its text
 */
export function parseSecrets<Key>(given: Keys, { parse, form }: SecretFormat<Key>): DatedKey<Key>[] {
  const { secrets } = given
  const faults = secrets.length > 0 ? [] : [`${settingOf(given)} is empty: give the secret of the webhook`]
  const keys = secrets.flatMap(({ text, ...dates }, place) => {
    const key = parse(text)
    if (key === null) faults.push(`${settingOf(given)}: secret ${place + 1} must be ${form}`)
    return key === null ? [] : [{ key, ...dates }]
  })
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
  return keys
}

/** The setting of the environment that has the secrets. */
export function settingOf({ secretsSetting = 'WEBHOOK_SECRETS' }: Keys): string {
  return secretsSetting
}

/** Only the canonical spelling: decoders ignore invalid characters. */
export const keyForms: Record<HmacSettings['key'], SecretFormat<KeyObject>> = {
  utf8: { parse: (text) => keyOf(Buffer.from(text)), form: 'text' },
  hex: { parse: (text) => exactly(text.toLowerCase(), 'hex'), form: 'hexadecimal digits, two for each byte' },
  base64: { parse: (text) => exactly(text, 'base64'), form: 'base64' },
  whsec: {
    parse: (text) => (text.startsWith('whsec_') ? exactly(text.slice('whsec_'.length), 'base64') : null),
    form: 'whsec_ and base64',
  },
}

function exactly(text: string, encoding: 'hex' | 'base64'): KeyObject | null {
  const bytes = bytesOf(text, encoding)
  return bytes === null ? null : keyOf(bytes)
}

function keyOf(bytes: Buffer): KeyObject | null {
  return bytes.length === 0 ? null : createSecretKey(bytes)
}

/** Null if the spelling is not canonical. */
export function bytesOf(text: string, encoding: 'hex' | 'base64' | 'base64url'): Buffer | null {
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : null
}
