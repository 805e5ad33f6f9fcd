import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { canonicalText, documentText } from '../../src/evidence/bundle.ts'

const value = {
  zeta: 1n,
  alpha: [new Date(0), undefined, new Set(['b', 'a'])],
  text: 'tab\t, quote ", slash /, back \\, bell \u0007, delete \u007f, umlaut ü, 💸',
  nothing: undefined,
  empty: {},
  none: [],
  deep: { b: null, a: true, 10: 1, 9: 2 },
}

test('keys are in order, and what JSON lacks is text or left out', () => {
  expect(canonicalText({ b: 2n ** 70n, a: [new Date(0)], c: undefined })).toBe(
    '{"a":["1970-01-01T00:00:00.000Z"],"b":"1180591620717411303424"}',
  )
})

describe.skipIf(spawnSync('jq', ['--version']).error !== undefined)('with jq', () => {
  test('both ways of writing are those of jq', () => {
    const jq = (options: string) =>
      spawnSync('jq', [options, '.'], { input: documentText(value), encoding: 'utf8' }).stdout
    expect(jq('-S')).toBe(documentText(value))
    expect(jq('-cS')).toBe(`${canonicalText(value)}\n`)
  })
})
