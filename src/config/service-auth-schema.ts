import { z } from 'zod'
import { duration, type Refuse, refuseIn } from './yaml-file.ts'

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,100}$/, 'must be the name of a header')
const printable = z
  .string()
  .max(1000)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
const secretName = z
  .string()
  .regex(
    /^SERVICE_API_[A-Z0-9_]{1,60}(?<!_FILE)$/,
    'must be the name of a setting of the environment that begins with SERVICE_API_ and holds the secret',
  )

const headers = z
  .record(
    z.string(),
    z.union([printable, z.strictObject({ secret: secretName })], {
      error: 'must be text, or a secret by the name of its setting, like { secret: SERVICE_API_TOKEN }',
    }),
  )
  .default({})

const apiKeyName = secretName.default('SERVICE_API_KEY')
const prefix = printable.default('')

const names = ['method', 'path', 'pathname', 'query', 'body', 'timestamp', 'nonce', 'apiKey'] as const
const plain = `\\{(${names.join('|')})\\}`
const placeholder = new RegExp(
  `\\{(sha256|sha512)(?:-(hex|base64))?:((?:[^{}]|${plain.replace('(', '(?:')})*)\\}|${plain}`,
  'g',
)

/** A digest without encoding stands for its bytes. */
export type TemplatePart =
  | { kind: 'text'; text: string }
  | { kind: 'value'; name: (typeof names)[number] }
  | { kind: 'digest'; algorithm: string; encoding: 'hex' | 'base64' | null; of: readonly TemplatePart[] }

/** Braces that are no placeholder stay in a text. */
export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of template.matchAll(placeholder)) {
    const [whole, algorithm, encoding = null, of = '', name] = match
    parts.push({ kind: 'text', text: template.slice(end, match.index) })
    if (algorithm === undefined) parts.push({ kind: 'value', name: name as (typeof names)[number] })
    else
      parts.push({
        kind: 'digest',
        algorithm,
        encoding: encoding as 'hex' | 'base64' | null,
        of: parseTemplate(of),
      })
    end = match.index + whole.length
  }
  return [...parts, { kind: 'text' as const, text: template.slice(end) }].filter(
    (part) => part.kind !== 'text' || part.text !== '',
  )
}

const hmac = z.strictObject({
  scheme: z.literal('hmac'),
  template: z
    .string()
    .max(500)
    .regex(/^[\x20-\x7e\n\t]+$/, 'must be printable ASCII'),
  algorithm: z.enum(['sha256', 'sha384', 'sha512']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  secret: secretName.default('SERVICE_API_SECRET'),
  secretEncoding: z.enum(['text', 'hex', 'base64']).default('text'),
  header: headerName,
  value: printable.default('{signature}'),
  apiKey: z.strictObject({ header: headerName.optional(), prefix, secret: apiKeyName }).prefault({}),
  timestamp: z
    .strictObject({
      header: headerName.optional(),
      unit: z.enum(['s', 'ms', 'iso']).default('s'),
      /** For services that expect the time at which the request expires. */
      ahead: duration.prefault('0s'),
    })
    .prefault({}),
  nonce: z
    .strictObject({ header: headerName.optional(), form: z.enum(['uuid', 'increasing']).default('uuid') })
    .prefault({}),
  headers,
})

const ed25519 = hmac.omit({ algorithm: true }).extend({ scheme: z.literal('ed25519') })

export type SigningSection = z.output<typeof hmac> | z.output<typeof ed25519>

const section = z
  .discriminatedUnion('scheme', [
    z.strictObject({
      scheme: z.literal('header'),
      header: headerName.default('X-API-KEY'),
      prefix,
      secret: apiKeyName,
      headers,
    }),
    z.strictObject({
      scheme: z.literal('basic'),
      user: z.string().regex(/^[^:\p{Cc}]+$/u, 'must be a user without a colon'),
      secret: apiKeyName,
      headers,
    }),
    z.strictObject({
      scheme: z.literal('token-file'),
      /** Relative to the settings file. */
      path: z.string().min(1),
      header: headerName.default('Authorization'),
      prefix: printable.default('Bearer '),
      headers,
    }),
    hmac,
    ed25519,
    z.strictObject({ scheme: z.literal('none'), headers }),
  ])
  .superRefine((value, context) => {
    const refuse = refuseIn(context)
    checkHeaders(value, refuse)
    if ('prefix' in value) checkPrefix(value, refuse)
    if ('template' in value) checkTemplates(value, refuse)
  })

/** The section `auth` of a service. */
export const serviceAuthSection = z
  .preprocess((value) => (isMap(value) ? { scheme: 'header', ...value } : value), section)
  .prefault({})

export type ServiceAuthSection = z.output<typeof section>

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Those that the program or the HTTP client sets. */
const reserved =
  /^(?:accept|accept-encoding|connection|content-length|content-type|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i
const secretHeader = /(?:^|-)(?:authorization|cookie|token|secret|password|passphrase|api-?key|access-?key)$/i

function checkHeaders(value: ServiceAuthSection, refuse: Refuse): void {
  for (const [name, text] of Object.entries(value.headers)) {
    const at = ['headers', name]
    if (!headerName.safeParse(name).success) refuse(at, 'must be the name of a header')
    if (typeof text === 'string' && secretHeader.test(name))
      refuse(at, 'holds a secret: set it in the environment, and its name here, { secret: SERVICE_API_… }')
  }
  const all = [
    ...ownHeaders(value),
    ...Object.keys(value.headers).map((name) => [['headers', name], name] as const),
  ]
  for (const [place, [at, name]] of all.entries()) {
    if (reserved.test(name)) refuse(at, `must not be ${name}, which depositd sets itself`)
    const before = all.slice(0, place).map(([, other]) => other.toLowerCase())
    if (before.includes(name.toLowerCase())) refuse(at, `${name} is set twice; keep one`)
  }
}

/** YAML drops a blank at the end, unless it is in quotes. */
function checkPrefix({ header, prefix: text }: { header: string; prefix: string }, refuse: Refuse): void {
  if (header.toLowerCase() === 'authorization' && /^[\w-]+$/.test(text))
    refuse(['prefix'], `must end with a blank, in quotes: '${text} '`)
}

type HeaderPlace = readonly [path: readonly string[], name: string]

function ownHeaders(value: ServiceAuthSection): HeaderPlace[] {
  if (value.scheme === 'none') return []
  if (value.scheme === 'basic') return [[['scheme'], 'Authorization']]
  if (!('template' in value)) return [[['header'], value.header]]
  const parts = (['apiKey', 'timestamp', 'nonce'] as const).map((name): HeaderPlace => {
    return [[name, 'header'], value[name].header ?? '']
  })
  return [[['header'], value.header] as const, ...parts].filter(([, name]) => name !== '')
}

/** The service can verify only what it receives. */
function checkTemplates({ template, value, ...parts }: SigningSection, refuse: Refuse): void {
  if (parseTemplate(template).some((part) => part.kind === 'text' && /[{}]/.test(part.text)))
    refuse(
      ['template'],
      `must contain no braces except ${listed(names)}, and digests like {sha256-hex:{body}}`,
    )
  const sent = ['signature', 'apiKey', 'timestamp', 'nonce']
  if (/[{}]/.test(value.replaceAll(new RegExp(`\\{(?:${sent.join('|')})\\}`, 'g'), '')))
    refuse(['value'], `must contain no braces except ${listed(sent)}`)
  if (!value.includes('{signature}')) refuse(['value'], 'must contain {signature}')
  for (const name of ['timestamp', 'nonce'] as const) {
    const isSent = parts[name].header !== undefined || value.includes(`{${name}}`)
    if (template.includes(`{${name}}`) && !isSent)
      refuse([name, 'header'], `is missing: the template signs {${name}}, so it has to be sent`)
  }
}

function listed(words: readonly string[]): string {
  return words.map((word) => `{${word}}`).join(', ')
}
