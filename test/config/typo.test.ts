import { expect, test } from 'vitest'
import { isTypoOf } from '../../src/config/environment.ts'

test.each([
  'LOG_LEVEX',
  'XOG_LEVEL',
  'LOG_LEVE',
  'OG_LEVEL',
  'LOG_LEVLE',
  'OLG_LEVEL',
  'LOG_LEVELL',
  'LLOG_LEVEL',
])('%s is a slip of LOG_LEVEL', (word) => {
  expect(isTypoOf(word, 'LOG_LEVEL')).toBe(true)
})

test.each([
  ['HTTPS_PORT', 'HTTP_PORT'],
  ['HTTP_PORTS', 'HTTP_PORT'],
  ['OPS_HOST', 'OPS_PORT'],
  ['OPS_LEVEL', 'LOG_LEVEL'],
  ['LOG', 'LOG_LEVEL'],
  ['LEVEL_LOG', 'LOG_LEVEL'],
  ['', 'LOG_LEVEL'],
])('%s is another word than %s', (word, meant) => {
  expect(isTypoOf(word, meant)).toBe(false)
})
