import express, { type Request, type Response } from 'express'
import { type JSONPath, visit } from 'jsonc-parser'
import { z } from 'zod'
import { messageOf, type RequestFault } from '../core/errors.ts'
import { bodyProblems, createProblems, httpProblems } from './problem.ts'

const { refusal } = createProblems({ ...httpProblems, ...bodyProblems })

const bodyMax = 16 * 1024

const readBytes = express.raw({ limit: bodyMax, type: () => true, inflate: false })

/** @throws Fault `request_refused`, and the errors of body-parser */
export async function readJsonBody(request: Request, response: Response): Promise<unknown> {
  if (!request.is('application/json')) {
    throw refusal('content_type_unsupported', 'send a JSON body with content-type application/json')
  }
  const charset = /;\s*charset="?([^";\s]+)/i.exec(request.get('content-type') ?? '')?.[1] ?? 'utf-8'
  if (!/^utf-?8$/i.test(charset)) {
    throw refusal('content_type_unsupported', `the charset must be UTF-8, not ${charset.slice(0, 40)}`)
  }
  await new Promise<void>((resolve, reject) => {
    readBytes(request, response, (error?: unknown) => {
      if (error === undefined) resolve()
      else reject(error instanceof Error ? error : new Error('the body was not read', { cause: error }))
    })
  })
  return parseStrictJson(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
}

/** The caller might believe that the body took effect. */
export function refuseBody(request: Request): void {
  if (hasBody(request)) throw refusal('request_invalid', 'this operation accepts no body')
}

export function hasBody({ headers }: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
  return length !== '0' || coding !== undefined
}

/** Repeated parameters are ambiguous. @throws Fault `request_refused` */
export function readQuery(request: Request): Record<string, string> {
  const place = request.originalUrl.indexOf('?')
  const entries = [...new URLSearchParams(place === -1 ? '' : request.originalUrl.slice(place))]
  const names = entries.map(([name]) => name)
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  refuseParameters([...repeated], 'occurs twice in the query')
  const query = Object.fromEntries(entries)
  checkParameters(query)
  return query
}

/** @throws Fault `request_refused` */
export function checkParameters(parameters: Readonly<Record<string, string>>): void {
  const garbled = Object.entries(parameters).filter((entry) => !entry.every(isPlainText))
  refuseParameters(
    garbled.map(([name]) => name),
    'contains NUL or an unpaired surrogate',
  )
}

function refuseParameters(names: readonly string[], detail: string): void {
  if (names.length === 0) return
  const errors: RequestFault[] = names
    .slice(0, 20)
    .map((name) => ({ parameter: name.toWellFormed().slice(0, 200), detail }))
  const described = errors.map(({ parameter }) => `${parameter} ${detail}`).join('; ')
  throw refusal('request_invalid', described.slice(0, 1000), { errors })
}

type RequestLocation = 'body' | 'parameter'

const faultsMax = 20

/** Reports all errors at once, each with its location. */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: RequestLocation,
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const faults = result.error.issues.flatMap((issue) => faultsOf(issue, place, known)).slice(0, faultsMax)
  throw refusal('request_invalid', faults.map(describeFault).join('; ').slice(0, 1000), { errors: faults })
}

function faultsOf(issue: z.core.$ZodIssue, place: RequestLocation, known: readonly string[]): RequestFault[] {
  if (issue.code === 'invalid_union') return faultsOfNearest(issue, place)
  if (issue.code !== 'unrecognized_keys') return [faultAt(issue.path, place, issue.message)]
  const detail = place === 'body' ? 'is not a field of this request' : unknownParameter(known)
  return issue.keys.map((key) => faultAt([...issue.path, key], place, detail))
}

function unknownParameter(known: readonly string[]): string {
  const all = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
  return `is not a parameter of this operation; ${all}`
}

/** The member with the fewest errors is the likeliest to be meant. */
function faultsOfNearest(issue: z.core.$ZodIssueInvalidUnion, place: RequestLocation): RequestFault[] {
  const [nearest] = issue.errors.toSorted((left, right) => left.length - right.length)
  if (nearest === undefined) return [faultAt(issue.path, place, issue.message)]
  return nearest.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }, place, []))
}

function faultAt(path: readonly PropertyKey[], place: RequestLocation, message: string): RequestFault {
  const detail = message.endsWith('received undefined') ? 'is missing' : message.slice(0, 200)
  return place === 'body'
    ? { pointer: pointerOf(path), detail }
    : { parameter: path.map(String).join('.').slice(0, 200), detail }
}

/** RFC 6901. */
function pointerOf(path: readonly PropertyKey[]): string {
  return path
    .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
    .slice(0, 200)
}

/** `/forward_network: is missing`; an error of the whole body has no location. */
function describeFault({ pointer, parameter, detail }: RequestFault): string {
  const place = pointer ?? parameter ?? ''
  return place === '' ? detail : `${place}: ${detail}`
}

/** More than twice the depth of any request. */
export const depthMax = 16

/**
 * Rejects input on which JSON parsers disagree: a repeated key, and invalid text (NUL, half of a surrogate pair).
 * @throws Fault `request_refused`
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  inspect(text)
  return value
}

/** With an offset, in the range that Postgres supports. */
export const timeText = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with an offset' })
  .refine((text) => !(Date.parse(text) < 0), { error: 'must not be before 1970' })

/** True if Postgres can store the text and UTF-8 can encode it. */
function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw refusal('body_malformed', 'the body is not UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refusal('body_malformed', messageOf(error).slice(0, 200))
  }
}

/** Throws at the maximum depth. */
function inspect(text: string): void {
  const open: Set<string>[] = []
  const enter = (path: () => JSONPath): void => {
    if (open.push(new Set()) > depthMax) throw tooDeep(path())
  }
  const leave = (): void => {
    open.pop()
  }
  visit(text, {
    onObjectBegin: (...[, , , , path]) => enter(path),
    onObjectEnd: leave,
    onArrayBegin: (...[, , , , path]) => enter(path),
    onArrayEnd: leave,
    onObjectProperty: (...[key, , , , , path]) => {
      const keys = open.at(-1)
      if (keys?.has(key) === true) throw repeatedKey([...path(), key])
      keys?.add(key)
      checkText(key, () => [...path(), key])
    },
    onLiteralValue: (...[value, , , , , path]) => {
      if (typeof value === 'string') checkText(value, path)
    },
  })
}

function checkText(text: string, path: () => JSONPath): void {
  if (isPlainText(text)) return
  const fault = { pointer: pointerOf(path()), detail: 'contains NUL or an unpaired surrogate' }
  throw refusal('request_invalid', `${fault.pointer}: ${fault.detail}`, { errors: [fault] })
}

function repeatedKey(path: JSONPath) {
  const fault = { pointer: pointerOf(path), detail: 'occurs twice in its object' }
  return refusal('key_repeated', `${fault.pointer} ${fault.detail}`, { errors: [fault] })
}

function tooDeep(path: JSONPath) {
  const fault = { pointer: pointerOf(path), detail: `is nested deeper than ${depthMax} levels` }
  return refusal('body_too_deep', `${fault.pointer} ${fault.detail}`, { errors: [fault] })
}
