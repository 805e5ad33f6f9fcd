import express, { type Request, type Response } from 'express'
import type { RequestFault } from '../../core/errors.ts'
import { refusal } from './problem.ts'
import { isPlainText, parseStrictJson } from './strict-json.ts'

export const bodyMax = 16 * 1024

const readBytes = express.raw({ limit: bodyMax, type: () => true, inflate: false })

/**
 * Reads the body as JSON.
 * @throws Fault `request_refused`, and the errors of body-parser
 */
export async function readJsonBody(request: Request, response: Response): Promise<unknown> {
  if (!request.is('application/json')) {
    throw refusal('content_type_unsupported', 'send a JSON body as content-type application/json')
  }
  const charset = /;\s*charset="?([^";\s]+)/i.exec(request.get('content-type') ?? '')?.[1] ?? 'utf-8'
  if (!/^utf-?8$/i.test(charset)) {
    throw refusal('content_type_unsupported', `send the body in UTF-8, not in ${charset.slice(0, 40)}`)
  }
  await new Promise<void>((resolve, reject) => {
    readBytes(request, response, (error?: unknown) => {
      if (error === undefined) resolve()
      else reject(error instanceof Error ? error : new Error('the body was not read', { cause: error }))
    })
  })
  return parseStrictJson(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
}

/** Rejects a body that would be ignored, so that the caller does not believe it took effect. */
export function refuseBody(request: Request): void {
  if (hasBody(request)) throw refusal('request_invalid', 'this call takes no body')
}

export function hasBody({ headers }: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
  return length !== '0' || coding !== undefined
}

/**
 * The query parameters. Repeated parameters are rejected as ambiguous.
 * @throws Fault `request_refused`
 */
export function readQuery(request: Request): Record<string, string> {
  const place = request.originalUrl.indexOf('?')
  const entries = [...new URLSearchParams(place === -1 ? '' : request.originalUrl.slice(place))]
  const names = entries.map(([name]) => name)
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  refuseParameters([...repeated], 'stands twice in the query')
  const query = Object.fromEntries(entries)
  checkParameters(query)
  return query
}

/**
 * Rejects parameters that are not valid text.
 * @throws Fault `request_refused`
 */
export function checkParameters(parameters: Readonly<Record<string, string>>): void {
  const garbled = Object.entries(parameters).filter((entry) => !entry.every(isPlainText))
  refuseParameters(
    garbled.map(([name]) => name),
    'holds NUL or half of a surrogate pair',
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
