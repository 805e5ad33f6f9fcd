import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../core/errors.ts'
import type { EnvironmentReader } from './environment.ts'
import { readPublicUrl } from './environment-settings.ts'
import { duration, refuseIn } from './yaml-file.ts'

/** Valid for webhooks received from `notBefore` on and before `notAfter`; null is no bound. */
export type SecretSetting = { text: string; notBefore: Date | null; notAfter: Date | null }

export type WebhookAuthSettings = {
  signing: WebhookSection
  /**
   * `publicKeys` is the text of the file that the section names. `secretsSetting` is the setting that has the secrets, for
   * messages; by default `WEBHOOK_SECRETS`.
   */
  keys: { secrets: readonly SecretSetting[]; publicKeys: string | null; secretsSetting?: string }
}

export function readSchemeName(reader: EnvironmentReader): SchemeName | null {
  return reader.optionalChoice('WEBHOOK_SCHEME', schemeNames)
}

/** Of the default service. */
export const defaultWebhookPlace = { section: 'webhooks', secrets: 'WEBHOOK_SECRETS' }

/** The section, and the setting of the environment that has its secrets. */
type WebhookPlace = typeof defaultWebhookPlace

type WebhookReader = { reader: EnvironmentReader; readText: (path: string) => string; place: WebhookPlace }

/** @param section null if the file has faults; its needs are unknown then */
export function readWebhooks(from: WebhookReader, section: WebhookSection | null): WebhookAuthSettings {
  if (section === null) return { signing: defaultWebhooks, keys: { secrets: [], publicKeys: null } }
  const { reader, place } = from
  const named = place === defaultWebhookPlace ? readSchemeName(reader) : null
  if (named !== null && named !== section.scheme)
    reader.faults.push(
      `WEBHOOK_SCHEME is ${named}, and DEPOSITD_CONFIG says webhooks.scheme ${section.scheme}; keep one`,
    )
  const publicKeys = section.scheme === 'public-key' ? readPublicKeys(from, section.publicKeys) : null
  return {
    signing: withPublicUrl(from, section),
    keys: { secrets: readSecrets(from, section.scheme), publicKeys, secretsSetting: place.secrets },
  }
}

function withPublicUrl({ reader, place }: WebhookReader, section: WebhookSection): WebhookSection {
  if (!signsUrl(section) || section.publicUrl !== undefined) return section
  const publicUrl = readPublicUrl(reader)
  if (publicUrl !== null) return { ...section, publicUrl }
  const signer = 'template' in section ? 'the template contains {url}' : `${section.scheme} signs the URL`
  if (reader.optional('PUBLIC_URL') === undefined)
    reader.faults.push(
      `DEPOSITD_CONFIG, ${place.section}.publicUrl is missing, and ${signer}: set it, or PUBLIC_URL, to the address at which the sender reaches depositd, like https://deposits.example, without the path /webhooks/transfers`,
    )
  return section
}

type UrlSection = Extract<WebhookSection, { publicUrl?: unknown }>

function signsUrl(section: WebhookSection): section is UrlSection {
  if ('template' in section) return section.template.includes('{url}')
  return section.scheme === 'square' || section.scheme === 'hubspot'
}

/** The path is relative to the settings file, not to the working directory. */
function readPublicKeys({ reader, readText, place }: WebhookReader, path: string): string {
  try {
    return readText(resolve(dirname(reader.optional('DEPOSITD_CONFIG') ?? ''), path))
  } catch (error) {
    reader.faults.push(`DEPOSITD_CONFIG, ${place.section}.publicKeys cannot be read: ${messageOf(error)}`)
    return ''
  }
}

function readSecrets({ reader, place }: WebhookReader, scheme: SchemeName): SecretSetting[] {
  const { section, secrets: name } = place
  // The secret is often there before its scheme is known.
  if (scheme === 'capture') return parseSecrets(reader.optional(name) ?? '', reader.faults, name)
  if (scheme !== 'none' && scheme !== 'public-key')
    return parseSecrets(reader.text(name), reader.faults, name)
  // An operator who sets a secret expects it to protect.
  if (reader.optional(name) !== undefined)
    reader.faults.push(
      `${name} is set, and ${section}.scheme ${scheme} uses none; unset it or choose another scheme`,
    )
  return []
}

/** Separated by commas or line breaks. No fault contains a secret. */
export function parseSecrets(
  text: string,
  faults: string[],
  name = defaultWebhookPlace.secrets,
): SecretSetting[] {
  if (text === '') return []
  const entries = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => line.split(','))
    .map((entry) => entry.trim())
  if (entries.includes('')) faults.push(`${name} has an empty entry`)
  return entries.map((entry, place) => {
    const { secret, problem } = parseSecret(entry)
    if (problem !== null) faults.push(`${name}: secret ${place + 1} ${problem}`)
    return secret
  })
}

const entryForm = /^([^]*?)(?:\s+not-before=(\S*))?(?:\s+not-after=(\S*))?$/

function parseSecret(entry: string): { secret: SecretSetting; problem: string | null } {
  const [, text = '', from, until] = entryForm.exec(entry) ?? []
  const secret = { text, notBefore: boundOf(from), notAfter: boundOf(until) }
  return { secret, problem: problemOf(secret) }
}

function problemOf({ text, notBefore, notAfter }: SecretSetting): string | null {
  // A misspelt bound would otherwise become part of the secret.
  if (/\snot-?\w*\s*=/i.test(text))
    return 'must be the secret, then not-before=TIME, then not-after=TIME, the times being optional'
  if ([notBefore, notAfter].some((time) => time !== null && Number.isNaN(time.getTime())))
    return 'needs a time like 2026-12-01T00:00:00Z as its bound'
  const isNever = notBefore !== null && notAfter !== null && notAfter <= notBefore
  return isNever ? 'ends before it begins' : null
}

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/

function boundOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(timeForm.test(text) ? text : Number.NaN)
}

export const schemeNames = [
  'standard-webhooks',
  'svix',
  'stripe',
  'github',
  'square',
  'hubspot',
  'hmac',
  'public-key',
  'shared-secret',
  'capture',
  'none',
] as const
export type SchemeName = (typeof schemeNames)[number]

/** Node reports header names in lower case. */
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a header')
  .toLowerCase()
const field = z.string().regex(/^[\w.-]{1,40}$/, 'must be the name of a field in a header like "t=…,v1=…"')
const prefix = z.string().max(100)
const tolerance = duration.prefault('5m')
/** Without a trailing slash. A proxy may change host and path, so that the URL of a request is not the one signed. */
export const publicUrlSetting = z
  .string()
  .refine(
    isPublicUrl,
    'must be an address like https://deposits.example, without a login, a query or a section',
  )
  .transform((text) => text.replace(/\/+$/, ''))
const publicUrl = publicUrlSetting.optional()

function isPublicUrl(text: string): boolean {
  const { protocol = '', username, password } = URL.parse(text) ?? {}
  return /^https?:$/.test(protocol) && `${username}${password}` === '' && !/[?#]/.test(text)
}

const signed = {
  header: headerName,
  /** If the header is a list like `t=…,v1=…`. */
  field: field.optional(),
  prefix: prefix.default(''),
  /** With `{body}` once, and at most once everything else that is signed. */
  template: z.string().max(500).default('{body}'),
  id: z.strictObject({ header: headerName }).optional(),
  timestamp: z
    .strictObject({
      header: headerName,
      field: field.optional(),
      unit: z.enum(['s', 'ms', 'iso']).default('s'),
    })
    .optional(),
  publicUrl,
  tolerance,
}
const encoding = z.enum(['hex', 'base64', 'base64url'])

const hmac = z
  .strictObject({
    scheme: z.literal('hmac'),
    ...signed,
    algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).default('sha256'),
    encoding: encoding.default('hex'),
    key: z.enum(['utf8', 'base64', 'hex', 'whsec']).default('utf8'),
  })
  .superRefine(checkTemplate)

const publicKey = z
  .strictObject({
    scheme: z.literal('public-key'),
    ...signed,
    algorithm: z.enum([
      'ed25519',
      'rsa-sha256',
      'rsa-sha512',
      'rsa-pss-sha256',
      'ecdsa-sha256',
      'ecdsa-sha384',
    ]),
    encoding: encoding.default('base64'),
    /** ECDSA only: a DER sequence, or both numbers concatenated. */
    signatureForm: z.enum(['der', 'p1363']).default('der'),
    /** A PEM or JWKS file, relative to the settings file. */
    publicKeys: z.string().min(1),
  })
  .superRefine(checkTemplate)

export const webhookSection = z.discriminatedUnion('scheme', [
  /** `headers` is the common prefix of the three header names, as in `webhook-id`. */
  z.strictObject({
    scheme: z.literal('standard-webhooks'),
    headers: headerName.default('webhook'),
    tolerance,
  }),
  z.strictObject({ scheme: z.literal('svix'), headers: headerName.default('svix'), tolerance }),
  z.strictObject({
    scheme: z.literal('stripe'),
    header: headerName.default('stripe-signature'),
    tolerance,
  }),
  z.strictObject({ scheme: z.literal('github'), header: headerName.default('x-hub-signature-256') }),
  z.strictObject({ scheme: z.literal('square'), publicUrl }),
  z.strictObject({ scheme: z.literal('hubspot'), publicUrl, tolerance }),
  hmac,
  publicKey,
  z.strictObject({ scheme: z.literal('shared-secret'), header: headerName, prefix: prefix.default('') }),
  /** Keeps every webhook in the quarantine, from which the scheme can be detected. */
  z.strictObject({ scheme: z.literal('capture') }),
  z.strictObject({ scheme: z.literal('none') }),
])

type WebhookSection = z.output<typeof webhookSection>

const defaultWebhooks: WebhookSection = webhookSection.parse({ scheme: 'standard-webhooks' })

/** For a section that names none. */
export function withDefaultScheme(section: unknown = {}): unknown {
  return isMap(section) ? { scheme: defaultWebhooks.scheme, ...section } : section
}

export function withScheme(document: unknown, scheme: SchemeName): unknown {
  if (!isMap(document)) return document
  const section = document.webhooks ?? {}
  return isMap(section) ? { ...document, webhooks: { scheme, ...section } } : document
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type TemplateSettings = { template: string; id?: unknown; timestamp?: unknown; publicUrl?: unknown }

const placeholders = ['id', 'timestamp', 'method', 'url', 'path', 'body']

/** The end of a query could pass as the start of an id, and a replay as another webhook. */
export const unseparatedId = /\{(?:url|path)\}\{id\}|\{id\}\{(?:url|path)\}/

/** A value that is read but not signed could be forged; one that is signed but not read cannot be verified. */
function checkTemplate(value: TemplateSettings, context: z.RefinementCtx): void {
  const refuse = (name: string, message: string) => refuseIn(context)([name], message)
  const places = [...value.template.matchAll(/\{(\w*)\}/g)].map(([, name = '']) => name)
  for (const problem of placeProblems(places)) refuse('template', problem)
  if (unseparatedId.test(value.template)) refuse('template', 'needs a separator beside {id}')
  for (const name of ['id', 'timestamp'] as const) {
    const isSigned = places.includes(name)
    if (isSigned && value[name] === undefined) refuse(name, 'is missing, though the template contains it')
    if (!isSigned && value[name] !== undefined) refuse(name, `is not signed: add {${name}} to the template`)
  }
  if (value.publicUrl !== undefined && !places.includes('url'))
    refuse('publicUrl', 'is not signed: add {url} to the template')
}

function placeProblems(places: readonly string[]): string[] {
  const counts = placeholders.map((name) => [name, places.filter((one) => one === name).length] as const)
  return [
    ...(places.filter((name) => name === 'body').length === 1 ? [] : ['must contain {body} once']),
    ...places
      .filter((name) => !placeholders.includes(name))
      .map((name) => `must contain {${placeholders.join('}, {')}} only, not {${name}}`),
    ...counts
      .filter(([name, count]) => count > 1 && name !== 'body')
      .map(([name]) => `must contain {${name}} at most once`),
  ]
}
