import { isUtf8 } from 'node:buffer'

/** Deeper documents overflow the stack of recursive readers. */
const depthMax = 64

/** Brackets and commas. Readers create an object for each value. */
const valuesMax = 20_000

/** UTF-8 without a byte order mark, with one JSON document (RFC 8259) of bounded depth and number of values. */
export function isJson(body: Buffer): boolean {
  // The parser would build all of a hostile megabyte before it fails.
  if (!isUtf8(body) || !isBounded(body)) return false
  try {
    JSON.parse(body.toString())
    return true
  } catch {
    return false
  }
}

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Buffer.from('"\\,[]{}')

function isBounded(body: Buffer): boolean {
  let depth = 0
  let values = 0
  for (let place = 0; place < body.length; place++) {
    const byte = body[place]
    if (byte === quote) place = endOfString(body, place)
    else if (byte === comma) values++
    else if (byte === closeList || byte === closeObject) depth--
    else if (byte === openList || byte === openObject) {
      values++
      depth++
    }
    if (depth > depthMax || values > valuesMax) return false
  }
  return true
}

function endOfString(body: Buffer, begin: number): number {
  let place = begin + 1
  while (place < body.length && body[place] !== quote) place += body[place] === backslash ? 2 : 1
  return place
}
