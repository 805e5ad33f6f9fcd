import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readText, root } from './pages.ts'

const page = readText('docs/security.md')
const [, threats = ''] = page.split('\n## Threats\n')
const rows = (threats.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => /^\| (?!---|Threat )/.test(line))
  .map((line) => line.slice(2, -2).split(' | '))

test('each threat says what stops it, which test shows it, and what remains', () => {
  expect(rows.length).toBeGreaterThan(15)
  for (const [threat, ...cells] of rows) {
    expect(cells, threat).toHaveLength(3)
    const [stops = '', shown = ''] = cells
    expect(stops.length, threat).toBeGreaterThan(10)
    const files = [...shown.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
    expect(files.length, threat).toBeGreaterThan(0)
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([])
  }
})

test('every test that is named elsewhere on the page is there, too', () => {
  const named = [...page.matchAll(/\btest\/[\w/.-]+/g)].map(([path]) => path.replace(/\.$/, ''))
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
