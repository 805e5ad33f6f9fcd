import { expect, test } from 'vitest'
import { createHidden } from '../../src/log/hide-secrets.ts'

test.each([
  ['postgres://me:hunter2@db:5432/x is gone', 'postgres://[redacted]@db:5432/x is gone'],
  ['https://eth.example/v2/aaaaaaaaaabbbbbbbbbbcc failed', 'https://eth.example/v2/[redacted] failed'],
  ['https://host.example/a?apikey=hunter2 failed', 'https://host.example/a?[redacted] failed'],
  ['Bearer abcdefgh12345 was refused', 'Bearer [redacted] was refused'],
  ['whsec_aGVsbG8gd29ybGQ= is short', '[redacted] is short'],
  ['X-API-KEY: hunter2', 'X-API-KEY: [redacted]'],
  ['GET https://h.example/v2/aaaaaaaaaabbbbbbbbbbcc: 401', 'GET https://h.example/v2/[redacted]: 401'],
  ['failed (https://h.example/v2/aaaaaaaaaabbbbbbbbbbcc)', 'failed (https://h.example/v2/[redacted])'],
  ['wss://h.example/aaaaaaaaaabbbbbbbbbbcc, then it closed', 'wss://h.example/[redacted], then it closed'],
  ['one line\nhttps://h.example/a?key=hunter2', 'one line\nhttps://h.example/a?[redacted]'],
  ['one line\nauthorization: hunter2', 'one line\nauthorization: [redacted]'],
  ['redis://:a@b@queue:6379 refused', 'redis://[redacted]@queue:6379 refused'],
  ['https://a.example/,https://me:hunter2@b.example/', 'https://a.example/,https://[redacted]@b.example/'],
  ['https://a.example/?u=https://b.example/&k=hunter2', 'https://a.example/?[redacted]'],
  ['postgres://db/x?password=hunter2 is gone', 'postgres://db/x?[redacted] is gone'],
])('what nobody told of is hidden by its form: %s', (text, expected) => {
  const line = createHidden().hide(JSON.stringify({ text }))
  expect(JSON.parse(line)).toEqual({ text: expected })
})

const shortParts = [
  'a-',
  ':a',
  'a.',
  'a',
  '@',
  '/',
  ' ',
  '\\',
  '%61',
  '://',
  'a://b:',
  'http://a',
  'https://h/a?b',
]
const formParts = ['password ', 'Basic ', 'authorization:', 'whsec_', 'x-api-key=', '[redacted]']

test.each([...shortParts, ...formParts])(
  'a text of any form is looked through at once: %s, to a length of a million',
  (part) => {
    const { hide } = createHidden()
    const text = part.repeat(1_000_000 / part.length)
    for (const start of ['', 'https://', 'https://a:', 'https://h/?', 'password', 'authorization:'])
      expect(hide(start + text).length).toBeGreaterThan(5)
  },
  20_000,
)
