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

/** Header names are looked up as Node gives them: in lower case. */
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'is no name of a header')
  .toLowerCase()
const field = z.string().regex(/^[\w.-]{1,40}$/, 'is no name of a field in a header like "t=…,v1=…"')
const prefix = z.string().max(100)
const tolerance = duration.prefault('5m')

/** Where a signature is and what it was made over; what HMAC and public keys have in common. */
const signed = {
  header: headerName,
  /** Set where the header is a list like `t=…,v1=…`. */
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
    /** How the bytes of the key are written in `WEBHOOK_SECRETS`. */
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
    /** A PEM file or a JWKS; relative to the settings file. */
    publicKeys: z.string().min(1),
  })
  .superRefine(checkTemplate)

export const webhookSection = z.discriminatedUnion(
  'scheme',
  [
    z.strictObject({
      scheme: z.literal('standard-webhooks'),
      /** What the names of the three headers begin with. */
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

/** Puts in the scheme where the document names none: which keys the section takes depends on it. */
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

/** What is read and not signed could be anybody's; what is signed and not read cannot be verified. */
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
