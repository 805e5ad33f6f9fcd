import { z } from 'zod'
import { Fault, isFault, type RefusalParts } from '../../core/errors.ts'

export type ApiReply = { status: number; body: unknown; headers?: Readonly<Record<string, string>> }

const problems = {
  key_missing: [401, 'The X-API-KEY header is missing'],
  key_unknown: [401, 'The API key is unknown or revoked'],
  scope_insufficient: [403, 'The scope of the API key is insufficient'],
  not_found: [404, 'Not found'],
  caller_refused: [403, 'This port only accepts requests from its own machine'],
  method_not_allowed: [405, 'Method not allowed'],
  id_conflict: [409, 'The id is already used'],
  url_taken: [409, 'An endpoint with this URL exists'],
  limit_reached: [409, 'The maximum number is reached'],
  endpoint_inactive: [409, 'The endpoint is disabled or deleted'],
  endpoint_configured: [409, 'The endpoint comes from the settings of the service'],
  state_conflict: [409, 'The status of the deposit does not allow this'],
  sender_unknown: [409, 'The sender is unknown'],
  price_missing: [409, 'The asset has no price'],
  balance_short: [409, 'The balance is too small'],
  request_timeout: [408, 'The request timed out'],
  body_too_large: [413, 'The body is too large'],
  content_type_unsupported: [415, 'The body must be application/json'],
  headers_too_large: [431, 'The headers are too large'],
  http_malformed: [400, 'The request is not valid HTTP'],
  body_malformed: [400, 'The body is not valid JSON'],
  body_too_deep: [400, 'The body is nested too deeply'],
  key_repeated: [400, 'An object contains a key twice'],
  request_invalid: [400, 'A field is missing, unknown or invalid'],
  fields_contradict: [400, 'Two spellings of one field contradict each other'],
  network_unknown: [400, 'The network is not supported'],
  asset_unknown: [400, 'The asset does not exist on that network'],
  address_invalid: [400, 'The address is not valid on that network'],
  amount_inexact: [400, 'The network cannot pay this amount exactly'],
  url_refused: [400, 'The service does not send webhooks to this address'],
  cursor_invalid: [400, 'The cursor is invalid'],
  rate_limited: [429, 'Too many requests'],
  internal: [500, 'Internal error'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof problems

export function statusOf(code: ProblemCode): number {
  return problems[code][0]
}

export function describeProblem(code: ProblemCode): string {
  return problems[code][1]
}

export const problemSchema = z
  .strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(problems) as ProblemCode[]),
    detail: z.string(),
    errors: z
      .array(
        z.strictObject({
          pointer: z.string().optional(),
          parameter: z.string().optional(),
          detail: z.string(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457. `code` is stable; `errors` lists the invalid fields.' })

/** To be thrown. `detail` says what the caller must fix. */
export function refusal(
  code: ProblemCode,
  detail: string,
  parts: RefusalParts = {},
): Fault<'request_refused'> {
  return new Fault('request_refused', { status: statusOf(code), reason: code, problem: detail, ...parts })
}

export function notFound(what: string, id: string): Fault<'request_refused'> {
  return refusal('not_found', `${what} ${id} does not exist`)
}

/** RFC 9457; null for internal errors. */
export function replyTo(error: unknown): ApiReply | null {
  const refused = isFault(error, 'request_refused') ? error : translateParserError(error)
  if (refused === null) return null
  const { reason, problem, ...parts } = refused.details
  return problemReply(reason as ProblemCode, problem, parts)
}

export function problemReply(
  code: ProblemCode,
  detail: string,
  { errors, headers }: RefusalParts = {},
): ApiReply {
  const [status, title] = problems[code]
  const body = { type: 'about:blank', title, status, code, detail, ...(errors !== undefined && { errors }) }
  return { status, body, headers: { 'content-type': 'application/problem+json', ...headers } }
}

const parserCodes: Readonly<Record<string, ProblemCode>> = {
  'entity.too.large': 'body_too_large',
  'request.size.invalid': 'body_malformed',
  'request.aborted': 'request_timeout',
  'encoding.unsupported': 'content_type_unsupported',
}

function translateParserError(error: unknown): Fault<'request_refused'> | null {
  if (!(error instanceof Error) || !('type' in error)) return null
  const code = parserCodes[String(error.type)]
  return code === undefined ? null : refusal(code, error.message.slice(0, 200))
}
