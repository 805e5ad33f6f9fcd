import { type JSONPath, visit } from 'jsonc-parser'
import { messageOf } from '../../core/errors.ts'
import { pointerOf } from './parse.ts'
import { refusal } from './problem.ts'

/** More than twice the depth of any request of this API. */
export const depthMax = 16

/**
 * Parses one JSON document in UTF-8. Rejects input on which JSON parsers disagree: a repeated key in one object, and
 * invalid text (NUL, half of a surrogate pair).
 * @throws Fault `request_refused`
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  inspect(text)
  return value
}

/** True if Postgres can store the text and UTF-8 can encode it. */
export function isPlainText(text: string): boolean {
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

/** Walks valid JSON. Throws, and so stops, at the maximum depth. */
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
      if (keys?.has(key) === true) throw repeated([...path(), key])
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
  const fault = { pointer: pointerOf(path()), detail: 'holds NUL or half of a surrogate pair' }
  throw refusal('request_invalid', `${fault.pointer}: ${fault.detail}`, { errors: [fault] })
}

function repeated(path: JSONPath) {
  const fault = { pointer: pointerOf(path), detail: 'stands twice in its object' }
  return refusal('key_repeated', `${fault.pointer} ${fault.detail}`, { errors: [fault] })
}

function tooDeep(path: JSONPath) {
  const fault = { pointer: pointerOf(path), detail: `lies deeper than ${depthMax} levels` }
  return refusal('body_too_deep', `${fault.pointer} ${fault.detail}`, { errors: [fault] })
}
