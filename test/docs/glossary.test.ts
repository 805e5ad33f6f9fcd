import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { claimStatuses } from '../../src/core/evidence.ts'
import { matrixCells } from '../../src/core/judging/matrix.ts'
import { depositStates } from '../../src/core/judging/reconcile.ts'
import { stages } from '../../src/core/lag.ts'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import { readText, root } from './pages.ts'

const page = readText('docs/glossary.md')
const terms = new Set([...page.matchAll(/`([^`]+)`/g)].map(([, term = '']) => term))

/** The strings of a union type, as its declaration lists them. */
function wordsOf(file: string, declaration: RegExp): string[] {
  const [text = ''] = declaration.exec(readText(file)) ?? []
  return [...text.matchAll(/'([a-z_]+)'/g)].map(([, word = '']) => word)
}

test.each(['db/schema.sql', 'db/service/schema.sql'])('every table and view of %s has a term', (file) => {
  const tables = [...readText(file).matchAll(/^(?:table|view) (?:public\.)?(\S+)/gm)].map(
    ([, name = '']) => name,
  )
  expect(tables.length).toBeGreaterThan(10)
  expect(tables.filter((name) => !terms.has(name))).toEqual([])
})

test.each([
  ['deposit state', depositStates],
  ['claim status', claimStatuses],
  ['stage', Object.keys(stages)],
  ['severity', Object.values(mismatchKinds).map(({ severity }) => severity)],
  ['cell', matrixCells],
  ['role of an address', wordsOf('src/core/evidence.ts', /^ {2}role: 'deposit' .*/m)],
  ['finality stage', wordsOf('src/core/evidence.ts', /^ {2}stage: .*/m)],
  ['account class', (/\^\(([a-z|]+)\)/.exec(readText('src/core/chart.ts'))?.[1] ?? '').split('|')],
  ['kind of journal', wordsOf('src/core/booking-targets.ts', /^ {2}kind: 'deposit' .*/m)],
])('every %s is a term', (_what, words) => {
  expect(words.length).toBeGreaterThan(1)
  expect(words.filter((word) => !terms.has(word))).toEqual([])
})

test('every type that a term names is declared, and every file is there', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readText(join('src', path)))
    .join('\n')
  const types = [...terms]
    .map((term) => /^([A-Z]\w*[a-z]\w*)(?:\.\w+)?$/.exec(term)?.[1] ?? '')
    .filter((name) => name !== '')
  const paths = [...terms].filter((term) => /^(src|profiles)\//.test(term))
  expect(types.length).toBeGreaterThan(40)
  expect(types.filter((name) => !new RegExp(`\\btype ${name}\\b`).test(sources))).toEqual([])
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('no term has two rows in one section', () => {
  for (const section of page.split('\n## ').slice(1)) {
    const names = [...section.matchAll(/^\| \*\*([^*]+)\*\*([^|]*)/gm)].map(
      ([, name, more]) => `${name}${more}`,
    )
    expect(new Set(names).size, section.slice(0, 30)).toBe(names.length)
  }
})
