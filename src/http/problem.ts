import { z } from 'zod'
import { Fault, isFault, type RefusalParts } from '../core/errors.ts'

export type ApiReply = {
  status: number
  /** Sent as JSON; a text is sent unchanged. */
  body: unknown
  headers?: Readonly<Record<string, string>>
}

/** By its stable code. `waits`: it is answered with `Retry-After`. */
export type ProblemTable<Code extends string> = Readonly<
  Record<Code, readonly [status: number, title: string, wait?: 'waits']>
>

/** Of every API. */
export const httpProblems = {
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  request_timeout: [408, 'The request timed out'],
  headers_too_large: [431, 'The headers are too large'],
  http_malformed: [400, 'The request is not valid HTTP'],
  request_invalid: [400, 'A field is missing, unknown or invalid'],
  cursor_invalid: [400, 'The cursor is invalid'],
  rate_limited: [429, 'Too many requests', 'waits'],
  internal: [500, 'Internal error'],
} as const satisfies ProblemTable<string>

/** Of requests that have a body. */
export const bodyProblems = {
  body_too_large: [413, 'The body is too large'],
  content_type_unsupported: [415, 'The body must be application/json'],
  body_malformed: [400, 'The body is not valid JSON'],
  body_too_deep: [400, 'The body is nested too deeply'],
  key_repeated: [400, 'An object contains a key twice'],
} as const satisfies ProblemTable<string>

export type HttpProblemCode = keyof typeof httpProblems
export type BodyProblemCode = keyof typeof bodyProblems

/** The problems of one API, as documents of RFC 9457. */
export type ProblemDocuments<Code extends string> = {
  statusOf: (code: Code) => number
  describe: (code: Code) => string
  /** Whether it is answered with `Retry-After`. */
  waits: (code: Code) => boolean
  schema: z.ZodObject
  /** To be thrown. `detail` says what the caller must fix. */
  refusal: (code: Code, detail: string, parts?: RefusalParts) => Fault<'request_refused'>
  reply: (code: Code, detail: string, parts?: RefusalParts) => ApiReply
  /** Null for internal errors. */
  replyTo: (error: unknown) => ApiReply | null
}

export function createProblems<Code extends string>(
  table: ProblemTable<Code | HttpProblemCode>,
): ProblemDocuments<Code | HttpProblemCode> {
  type AnyCode = Code | HttpProblemCode
  const reply = (code: AnyCode, detail: string, { errors, headers }: RefusalParts = {}): ApiReply => {
    const [status, title] = table[code]
    const body = { type: 'about:blank', title, status, code, detail, ...(errors !== undefined && { errors }) }
    return { status, body, headers: { 'content-type': 'application/problem+json', ...headers } }
  }
  return {
    statusOf: (code) => table[code][0],
    describe: (code) => table[code][1],
    waits: (code) => table[code][2] === 'waits',
    schema: problemSchema(Object.keys(table)),
    refusal: (code, detail, parts = {}) =>
      new Fault('request_refused', { status: table[code][0], reason: code, problem: detail, ...parts }),
    reply,
    replyTo(error) {
      const refused = isFault(error, 'request_refused') ? error.details : translateParserError(error)
      if (refused === null) return null
      const { reason, problem, ...parts } = refused
      return reply(reason as AnyCode, problem, parts)
    },
  }
}

function problemSchema(codes: readonly string[]) {
  return z
    .strictObject({
      type: z.literal('about:blank'),
      title: z.string(),
      status: z.int(),
      code: z.enum(codes),
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
}

const parserCodes: Readonly<Record<string, BodyProblemCode | HttpProblemCode>> = {
  'entity.too.large': 'body_too_large',
  'request.size.invalid': 'body_malformed',
  'request.aborted': 'request_timeout',
  'encoding.unsupported': 'content_type_unsupported',
}

function translateParserError(error: unknown): (RefusalParts & { reason: string; problem: string }) | null {
  if (!(error instanceof Error) || !('type' in error)) return null
  const reason = parserCodes[String(error.type)]
  return reason === undefined ? null : { reason, problem: error.message.slice(0, 200) }
}
