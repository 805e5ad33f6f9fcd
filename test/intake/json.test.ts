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

const numbers = ['0', '-0', '1e5', '1E+5', '-1.25e-300', '1e400', '9007199254740993', `1${'0'.repeat(80)}`]
const notNumbers = ['01', '-', '+1', '.5', '1.', '1e', '1e+', '0x1', 'NaN', 'Infinity', '1 2', '--1']

test.each([...numbers, ...notNumbers])('the number %s', (text) => {
  expect(isJson(Buffer.from(text))).toBe(parses(Buffer.from(text)))
})

const strings = [
  String.raw`"\""`,
  String.raw`"\\"`,
  String.raw`"\u12aF"`,
  String.raw`"\ud800"`,
  '"\u007f"',
  '"é"',
]
const notStrings = [String.raw`"\x"`, String.raw`"\u12g4"`, String.raw`"\u123"`, String.raw`"\"`, '"', '"\t"']

test.each([...strings, ...notStrings, '"\u0000"'])('the string %j', (text) => {
  expect(isJson(Buffer.from(text))).toBe(parses(Buffer.from(text)))
})

const list = (count: number, item: string) => `[${Array<string>(count).fill(item).join(',')}]`

test('a document may hold twenty thousand values and no more', () => {
  expect(isJson(Buffer.from(list(19_999, '1')))).toBe(true)
  expect(isJson(Buffer.from(list(20_000, '1')))).toBe(false)
  expect(isJson(Buffer.from(list(9_999, '[{}]')))).toBe(true)
  expect(isJson(Buffer.from(list(10_000, '{"a":{}}')))).toBe(false)
})
