import { isUtf8 } from 'node:buffer'

/** Deeper documents overflow the stack of recursive readers. */
const depthMax = 64

/** Later readers create an object for each value. */
const valuesMax = 20_000

/**
 * UTF-8 without a byte order mark, with one JSON document (RFC 8259) of bounded depth and number of values. Builds
 * nothing: a parser would build all of a hostile megabyte before it fails.
 */
export function isJson(body: Buffer): boolean {
  if (!isUtf8(body)) return false
  const reading = { bytes: body, place: 0, values: 0 }
  if (!passValue(reading, 0)) return false
  skipWhitespace(reading)
  return reading.place === body.length
}

/** Each `pass` function returns whether the element was present, and moves past it. */
type JsonCursor = { readonly bytes: Buffer; place: number; values: number }

const quote = code('"')
const backslash = code('\\')
const comma = code(',')
const colon = code(':')
const minus = code('-')
const point = code('.')
const zero = code('0')
const nine = code('9')
const plus = code('+')
const smallA = code('a')
const smallE = code('e')
const smallF = code('f')
const smallN = code('n')
const smallT = code('t')
const smallU = code('u')
const openingBracket = code('[')
const closingBracket = code(']')
const openingBrace = code('{')
const closingBrace = code('}')
const smallBit = 0x20
const space = 0x20

function passValue(reading: JsonCursor, depth: number): boolean {
  skipWhitespace(reading)
  if (++reading.values > valuesMax) return false
  switch (reading.bytes[reading.place] ?? 0) {
    case quote:
      return passString(reading)
    case openingBrace:
      return passMembers(reading, depth + 1)
    case openingBracket:
      return passItems(reading, depth + 1)
    case smallT:
      return passWord(reading, 'true')
    case smallF:
      return passWord(reading, 'false')
    case smallN:
      return passWord(reading, 'null')
    default:
      return passNumber(reading)
  }
}

function passItems(reading: JsonCursor, depth: number): boolean {
  reading.place++
  if (depth > depthMax) return false
  if (passByte(reading, closingBracket)) return true
  do {
    if (!passValue(reading, depth)) return false
  } while (passByte(reading, comma))
  return passByte(reading, closingBracket)
}

function passMembers(reading: JsonCursor, depth: number): boolean {
  reading.place++
  if (depth > depthMax) return false
  if (passByte(reading, closingBrace)) return true
  do {
    skipWhitespace(reading)
    if (!passString(reading) || !passByte(reading, colon) || !passValue(reading, depth)) return false
  } while (passByte(reading, comma))
  return passByte(reading, closingBrace)
}

/** 1 for every byte that stands for itself in a string. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < space || byte === quote || byte === backslash ? 0 : 1,
)

function passString(reading: JsonCursor): boolean {
  const { bytes } = reading
  if (bytes[reading.place] !== quote) return false
  let place = reading.place + 1
  for (;;) {
    while (plain[bytes[place] ?? 0] === 1) place++
    if (bytes[place] !== backslash) break
    const escaped = escapeLength(bytes, place + 1)
    if (escaped === 0) return false
    place += 1 + escaped
  }
  reading.place = place + 1
  return bytes[place] === quote
}

const escapes = new Set(Buffer.from('"\\/bfnrt'))

/** After the backslash, in bytes; 0 if invalid. */
function escapeLength(bytes: Buffer, place: number): number {
  const byte = bytes[place] ?? 0
  if (byte !== smallU) return escapes.has(byte) ? 1 : 0
  for (let digit = place + 1; digit < place + 5; digit++) {
    if (!isHexadecimal(bytes[digit] ?? 0)) return 0
  }
  return 5
}

function passNumber(reading: JsonCursor): boolean {
  const { bytes } = reading
  if (bytes[reading.place] === minus) reading.place++
  if (bytes[reading.place] === zero) reading.place++
  else if (!passDigits(reading)) return false
  if (bytes[reading.place] === point) {
    reading.place++
    if (!passDigits(reading)) return false
  }
  if (((bytes[reading.place] ?? 0) | smallBit) !== smallE) return true
  reading.place++
  if (bytes[reading.place] === minus || bytes[reading.place] === plus) reading.place++
  return passDigits(reading)
}

function passDigits(reading: JsonCursor): boolean {
  const first = reading.place
  while (isDigit(reading.bytes[reading.place] ?? 0)) reading.place++
  return reading.place > first
}

function passWord(reading: JsonCursor, word: string): boolean {
  const end = reading.place + word.length
  if (reading.bytes.toString('latin1', reading.place, end) !== word) return false
  reading.place = end
  return true
}

function passByte(reading: JsonCursor, byte: number): boolean {
  skipWhitespace(reading)
  if (reading.bytes[reading.place] !== byte) return false
  reading.place++
  return true
}

function skipWhitespace(reading: JsonCursor): void {
  const { bytes } = reading
  for (;;) {
    const byte = bytes[reading.place]
    if (byte !== space && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return
    reading.place++
  }
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine
}

function isHexadecimal(byte: number): boolean {
  const small = byte | smallBit
  return isDigit(byte) || (small >= smallA && small <= smallF)
}

function code(character: string): number {
  return character.charCodeAt(0)
}
