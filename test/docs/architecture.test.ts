import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const walks = read('ARCHITECTURE.md')
  .split(/^## /m)
  .map((section) => ({
    name: section.split('\n')[0] ?? '',
    files: section
      .split('\n')
      .filter((line) => /^(\d+\.| {3})/.test(line))
      .flatMap((line) => [...line.matchAll(/`(src\/[^`]+\.ts)`/g)].map(([, path = '']) => path)),
  }))
  .filter(({ files }) => files.length > 0)

function importsOf(path: string): string[] {
  return [...read(path).matchAll(/ from '(\.[^']+)'/g)].map(([, to = '']) => join(dirname(path), to))
}

test('there are walks for a webhook, a record and a transfer, and on to the ledger', () => {
  expect(walks.map(({ name }) => name)).toEqual([
    'A webhook',
    'An API record',
    'A chain transfer (EVM)',
    'From evidence to the ledger',
  ])
})

test.each(walks)('$name: each file is imported by one that was named before it', ({ files }) => {
  const unreached = files.filter((path, place) => {
    const before = files.slice(0, place)
    return place > 0 && !before.some((other) => importsOf(other).includes(path))
  })
  expect(unreached).toEqual([])
  expect(new Set(files).size).toBe(files.length)
})
