import { type JSONPath, visit } from 'jsonc-parser'
import { messageOf } from '../../core/errors.ts'
import { pointerOf } from './parse.ts'
import { refusal } from './problem.ts'

/** No request of this service is half as deep. */
export const depthMax = 16

/**
 * Reads one JSON document in UTF-8. What readers of JSON are known to disagree about is refused and named: a key that
 * stands twice in one object, and text that is none (NUL, half of a surrogate pair).
 * @throws Fault `request_refused`
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  inspect(text)
  return value
}

/** True for what Postgres can store and UTF-8 can say. */
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

/** Walks a text that is known to be JSON; throwing ends the walk before it goes deeper than it may. */
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
