import { z } from 'zod'
import { duration } from './yaml-file.ts'

export const schemeNames = [
  'standard-webhooks',
  'svix',
  'stripe',
  'github',
  'hmac',
  'public-key',
  'shared-secret',
  'none',
] as const
export type SchemeName = (typeof schemeNames)[number]

/** Node reports header names in lower case. */
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'is no name of a header')
  .toLowerCase()
const field = z.string().regex(/^[\w.-]{1,40}$/, 'is no name of a field in a header like "t=…,v1=…"')
const prefix = z.string().max(100)
const tolerance = duration.prefault('5m')

/** Header of a signature and the text it covers, for both HMAC and public keys. */
const signed = {
  header: headerName,
  /** Set if the header is a list like `t=…,v1=…`. */
  field: field.optional(),
  prefix: prefix.default(''),
  template: z.string().max(500).default('{body}'),
  id: z.strictObject({ header: headerName }).optional(),
  timestamp: z
    .strictObject({
      header: headerName,
      field: field.optional(),
      unit: z.enum(['s', 'ms', 'iso']).default('s'),
    })
    .optional(),
  tolerance,
}
const encoding = z.enum(['hex', 'base64', 'base64url'])

const hmac = z
  .strictObject({
    scheme: z.literal('hmac'),
    ...signed,
    algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).default('sha256'),
    encoding: encoding.default('hex'),
    /** Encoding of the key in `WEBHOOK_SECRETS`. */
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
    signatureForm: z.enum(['der', 'p1363']).default('der'),
    /** A PEM or JWKS file, relative to the settings file. */
    publicKeys: z.string().min(1),
  })
  .superRefine(checkTemplate)

export const webhookSection = z.discriminatedUnion(
  'scheme',
  [
    z.strictObject({
      scheme: z.literal('standard-webhooks'),
      /** Prefix of the names of the three headers. */
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
    hmac,
    publicKey,
    z.strictObject({ scheme: z.literal('shared-secret'), header: headerName, prefix: prefix.default('') }),
    z.strictObject({ scheme: z.literal('none') }),
  ],
  {
    error: ({ code }) =>
      code === 'invalid_union' ? `is no scheme; it takes ${schemeNames.join(', ')}` : undefined,
  },
)

/** The section `webhooks` of the settings file: how the sender signs. */
export type WebhookSection = z.output<typeof webhookSection>

export const defaultWebhooks: WebhookSection = webhookSection.parse({ scheme: 'standard-webhooks' })

/** Inserts the scheme if the document names none: it decides which keys the section takes. */
export function withScheme(document: unknown, scheme: SchemeName): unknown {
  if (!isMap(document)) return document
  const section = document.webhooks ?? {}
  return isMap(section) ? { ...document, webhooks: { scheme, ...section } } : document
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type WebhookIssueSink = {
  addIssue(issue: { code: 'custom'; path: (string | number)[]; message: string }): void
}
type TemplateSettings = { template: string; id?: unknown; timestamp?: unknown }

/** A value that is read but not signed could be forged; one that is signed but not read cannot be verified. */
function checkTemplate(value: TemplateSettings, context: WebhookIssueSink): void {
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message })
  const places = [...value.template.matchAll(/\{(\w*)\}/g)].map(([, name = '']) => name)
  if (places.filter((name) => name === 'body').length !== 1) refuse('template', 'must hold {body} once')
  for (const name of places.filter((one) => !['id', 'timestamp', 'body'].includes(one)))
    refuse('template', `holds {${name}}; it takes {id}, {timestamp} and {body}`)
  for (const name of ['id', 'timestamp'] as const) {
    const count = places.filter((one) => one === name).length
    if (count > 1) refuse('template', `holds {${name}} more than once`)
    if (count > 0 && value[name] === undefined) refuse(name, 'is missing, though the template holds it')
    if (count === 0 && value[name] !== undefined)
      refuse(name, `is not signed: the template does not hold {${name}}`)
  }
}
