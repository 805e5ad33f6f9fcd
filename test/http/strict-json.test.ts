import { assert, jsonValue, property } from 'fast-check'
import { expect, test } from 'vitest'
import { isFault } from '../../src/core/errors.ts'
import { depthMax, parseStrictJson } from '../../src/http/read-request.ts'

/** The refusal's code and the places that it names. */
function refused(bytes: Uint8Array | string): unknown {
  try {
    return parseStrictJson(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
  } catch (error) {
    if (!isFault(error, 'request_refused')) throw error
    return [error.details.reason, ...(error.details.errors ?? []).map(({ pointer }) => pointer)]
  }
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

test.each([
  ['a key twice', '{"id":"a","id":"b"}', ['key_repeated', '/id']],
  ['a key twice further in', '{"a":[{"b":1},{"b":1,"c":{},"b":2}]}', ['key_repeated', '/a/1/b']],
  ['one key in two spellings', String.raw`{"id":1,"\u0069d":2}`, ['key_repeated', '/id']],
  ['a key twice that has slashes', '{"a/b~":1,"a/b~":2}', ['key_repeated', '/a~1b~0']],
  ['a prototype twice', '{"__proto__":1,"__proto__":2}', ['key_repeated', '/__proto__']],
  ['too many levels', nested(depthMax + 1), ['body_too_deep', '/0'.repeat(depthMax)]],
  ['far too many levels', '['.repeat(8000) + ']'.repeat(8000), ['body_too_deep', expect.any(String)]],
  ['NUL in a text', String.raw`{"id":"a\u0000"}`, ['request_invalid', '/id']],
  ['half of a surrogate pair', String.raw`["\ud83d"]`, ['request_invalid', '/0']],
  ['a byte order mark', '\ufeff{}', ['body_malformed']],
  ['a comment', '{} // or so', ['body_malformed']],
  ['a comma too many', '{"a":1,}', ['body_malformed']],
  ['single quotes', "{'a':1}", ['body_malformed']],
  ['a number that JSON has not', '[01]', ['body_malformed']],
  ['two documents', '{}{}', ['body_malformed']],
  ['nothing', '', ['body_malformed']],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), ['body_malformed']],
])('%s is refused by code and place', (...[, text, expected]) => {
  expect(refused(text)).toEqual(expected)
})

test('the same key in two objects, and as many levels as are allowed, are fine', () => {
  expect(parseStrictJson(Buffer.from('[{"a":1},{"a":{"a":2}}]'))).toEqual([{ a: 1 }, { a: { a: 2 } }])
  expect(refused(nested(depthMax))).toBeInstanceOf(Array)
  expect(() => parseStrictJson(Buffer.from(nested(depthMax)))).not.toThrow()
})

test('a prototype in the text becomes a field like any other, and no prototype', () => {
  const value = parseStrictJson(Buffer.from('{"__proto__":{"admin":true}}')) as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect('admin' in value).toBe(false)
})

test('every document that is not too deep is read as JSON.parse reads it', () => {
  const document = jsonValue({ maxDepth: depthMax - 1 }).map((value) => JSON.stringify(value))
  const plain = document.filter((text) => text.isWellFormed() && !/\\u0000|\\ud[89a-f]/i.test(text))
  assert(
    property(plain, (text) => {
      expect(parseStrictJson(Buffer.from(text))).toEqual(JSON.parse(text))
    }),
  )
})
