import { gzipSync } from 'node:zlib'
import { ownClaim } from './false-claims.ts'

/** A body that is signed rightly, and how it must be answered. `any` of what is stored is not what is believed. */
export type HostileBody = {
  what: string
  body: Buffer
  headers?: Record<string, string>
  status: 202 | 400 | 413 | 415
}

const mebibyte = 1024 * 1024
const json = (text: string) => Buffer.from(text)
const nested = (depth: number) => json('['.repeat(depth) + ']'.repeat(depth))
/** An event that tells of no deposit, with something in it. */
const idle = (id: string, inside: string) =>
  json(`{"id":"${id}","type":"endpoint.test","data":{"it":${inside}}}`)

/** Never taken in: too large, not what it says it is, or no JSON that can be walked. */
const refused: HostileBody[] = [
  { what: 'more than 1 MiB', body: Buffer.alloc(mebibyte + 1, ' '), status: 413 },
  {
    what: 'more than 1 MiB in chunks',
    body: Buffer.alloc(mebibyte + 1, ' '),
    headers: { 'transfer-encoding': 'chunked' },
    status: 413,
  },
  { what: 'a million objects', body: json(`[${'{},'.repeat(999_999)}{}]`), status: 413 },
  { what: 'as many objects as fit', body: json(`[${'{},'.repeat(340_000)}{}]`), status: 400 },
  {
    what: 'a gzip bomb',
    body: gzipSync(Buffer.alloc(100 * mebibyte)),
    headers: { 'content-encoding': 'gzip' },
    status: 415,
  },
  { what: 'a bomb that is not named', body: gzipSync(Buffer.alloc(100 * mebibyte)), status: 400 },
  ...['application/json; charset=utf-16', 'text/plain', 'application/x-www-form-urlencoded', 'json'].map(
    (type): HostileBody => ({
      what: `the type ${type}`,
      body: json('{}'),
      headers: { 'content-type': type },
      status: 415,
    }),
  ),
  { what: 'UTF-16', body: Buffer.from('\ufeff{"id":"x"}', 'utf16le'), status: 400 },
  { what: 'a byte order mark', body: json('\ufeff{}'), status: 400 },
  { what: 'bytes that are no UTF-8', body: Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), status: 400 },
  { what: 'an overlong form', body: Buffer.from([0x22, 0xc0, 0xaf, 0x22]), status: 400 },
  { what: 'NUL within a text', body: json('{"id":"a\u0000b"}'), status: 400 },
  { what: 'NUL behind the document', body: json('{}\u0000'), status: 400 },
  { what: 'nothing', body: json(''), status: 400 },
  { what: 'two documents', body: json('{}{}'), status: 400 },
  { what: 'a comma too many', body: json('{"a":1,}'), status: 400 },
  { what: 'no number', body: json('{"a":NaN}'), status: 400 },
  { what: 'a depth of 65', body: nested(65), status: 400 },
  { what: 'a depth of half a million', body: nested(500_000), status: 400 },
]

/** Taken in, because it is JSON and signed: what it says must then do no harm. */
function stored(word: string): HostileBody[] {
  const inside: Record<string, string> = {
    'a depth of 62': nested(62).toString(),
    'a key twice': '{"a":1,"a":2}',
    __proto__: '{"__proto__":{"amount":"1","toString":"x"},"constructor":{"prototype":{"x":1}}}',
    '1e400': '1e400',
    '2^53+1': '9007199254740993',
    'eighty digits': '9'.repeat(80),
    'half a million digits': '9'.repeat(500_000),
    'NUL as it may be written': '"a\\u0000b"',
    'half a pair': '"\\ud800"',
    'a megabyte of one text': `"${'x'.repeat(900_000)}"`,
    'a name of a megabyte': `{"${'x'.repeat(900_000)}":1}`,
  }
  const idleOnes = Object.entries(inside).map(
    ([what, text], place): HostileBody => ({ what, body: idle(`evt-${word}-${place}`, text), status: 202 }),
  )
  return [...idleOnes, ...claims(word)]
}

/** In the places that are read: what cannot be read is a named mismatch, and nothing waits for it. */
function claims(word: string): HostileBody[] {
  const changes: Record<string, string> = {
    'eighty digits': `"${'9'.repeat(80)}"`,
    'half a million digits': `"${'9'.repeat(500_000)}"`,
    'half a million digits that are a number': '9'.repeat(500_000),
    '1e400': '1e400',
    '2^53+1 as a number': '9007199254740993',
    'a fraction': '"1.5"',
    'other digits': '"١٢٣"',
    hexadecimal: '"0x64"',
    'an object': '{"toString":"1"}',
    'NUL as it may be written': '"1\\u0000"',
    'half a pair': '"\\ud800"',
  }
  const amounts = Object.entries(changes).map(([what, text], place): HostileBody => {
    const document = ownClaim({ id: `evt-${word}-a${place}`, serviceId: `dep-${word}-a${place}` })
    return { what: `an amount of ${what}`, body: json(document.replace('"100"', text)), status: 202 }
  })
  const keys = [
    '__proto__',
    'constructor',
    'dep\\u0000',
    'dep\\ud800',
    'd'.repeat(100_000),
    'd\\u0435p-1',
    '',
  ]
  const ids = keys.map((id, place): HostileBody => {
    const document = ownClaim({ id: `evt-${word}-i${place}`, serviceId: 'PLACE' }).replace('PLACE', id)
    return { what: `a deposit of the id ${id.slice(0, 20)}`, body: json(document), status: 202 }
  })
  const twice = ownClaim({ id: `evt-${word}-t`, serviceId: `dep-${word}-t` })
  const doubled = {
    what: 'an amount twice',
    body: json(twice.replace('"amount":"100"', '"amount":"1","amount":"100"')),
  }
  return [...amounts, ...ids, { ...doubled, status: 202 }]
}

/** Bodies that a sender in good faith would never send; the word makes ids of them that no other run has. */
export function hostileBodies(word: string): HostileBody[] {
  return [...refused, ...stored(word)]
}
