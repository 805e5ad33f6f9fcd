import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJson } from '../../src/intake/json.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What the engine's own parser says. */
function parses(body: Buffer): boolean {
  try {
    JSON.parse(utf8.decode(body))
    return true
  } catch {
    return false
  }
}

const spaced = fc
  .tuple(fc.json(), fc.constantFrom(undefined, ' ', 2, '\t'))
  .map(([text, indent]) => JSON.stringify(JSON.parse(text), null, indent))

test('what it takes for JSON is what a parser takes for JSON', () => {
  fc.assert(
    fc.property(spaced, (text) => {
      expect(isJson(Buffer.from(text))).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

const pieces = ['', 'tru', '\\u00', ...'{ } [ ] " : , - + . 0 1 e \\ u U \n \u0000 t n f é'.split(' '), ' ']

/** A document with one piece cut out and another put in its place. */
const mutated = fc
  .tuple(spaced, fc.nat(), fc.nat(3), fc.constantFrom(...pieces))
  .map(([text, place, length, piece]) => {
    const at = place % (text.length + 1)
    return text.slice(0, at) + piece + text.slice(at + length)
  })

test('a document with a mistake is refused exactly where a parser refuses it', () => {
  fc.assert(
    fc.property(mutated, (text) => {
      const body = Buffer.from(text)
      expect(isJson(body), text).toBe(parses(body))
    }),
    { numRuns: 20_000 },
  )
})

test('any bytes at all are judged as a parser judges them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
      const body = Buffer.from(bytes)
      expect(isJson(body)).toBe(parses(body))
    }),
    { numRuns: 20_000 },
  )
})

const list = (count: number, item: string) => `[${Array<string>(count).fill(item).join(',')}]`

test('a document holds at most twenty thousand brackets and commas', () => {
  expect(isJson(Buffer.from(list(20_000, '1')))).toBe(true)
  expect(isJson(Buffer.from(list(20_001, '1')))).toBe(false)
  expect(isJson(Buffer.from(list(20_000, String.raw`"\"[,\\"`)))).toBe(true)
  expect(isJson(Buffer.from(list(10_000, '{}')))).toBe(true)
  expect(isJson(Buffer.from(list(10_001, '{}')))).toBe(false)
})

const nested = (depth: number) => Buffer.from('[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2))

test('a document is at most 64 levels deep', () => {
  expect(isJson(nested(64))).toBe(true)
  expect(isJson(nested(66))).toBe(false)
})
