/** Deeper documents parse, and then break whatever walks them by calling itself. */
const depthMax = 64

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * True for UTF-8 without a byte order mark that holds one JSON document of bounded depth. What the
 * document says is not looked at: it is kept as it came and read when it is applied.
 */
export function isJson(body: Buffer): boolean {
  if (depthOf(body) > depthMax) return false
  try {
    JSON.parse(utf8.decode(body))
    return true
  } catch {
    return false
  }
}

const quote = 0x22
const backslash = 0x5c
// With this bit set `[` is `{` and `]` is `}`, and no other byte of JSON becomes either outside a string.
const braceBit = 0x20
const openingBrace = 0x7b
const closingBrace = 0x7d

/** Counts brackets outside strings, before anything is parsed. */
function depthOf(body: Buffer): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let place = 0; place < body.length; place++) {
    const byte = body[place] ?? 0
    if (inString && byte === backslash) place++
    else if (byte === quote) inString = !inString
    else if (inString) continue
    else if ((byte | braceBit) === openingBrace) deepest = Math.max(deepest, ++depth)
    else if ((byte | braceBit) === closingBrace) depth--
  }
  return deepest
}
