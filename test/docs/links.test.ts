import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { anchors, links } from '../support/markdown.ts'
import { allPages, readText, root } from './pages.ts'

const pages = allPages()

test('there are pages to look at', () => {
  expect(pages).toEqual(expect.arrayContaining(['CHANGELOG.md', 'docs/settings.md', 'docs/accounting.md']))
})

test.each(pages)('%s links only to files and headings that exist', (page) => {
  expect(brokenLinks(page)).toEqual([])
})

test.each([
  ['a file that is not there', '[x](missing.md)', ['missing.md']],
  ['a heading that is not there', '[x](settings.md#nothing)', ['settings.md#nothing']],
  ['a heading of the same page that is not there', '# Here\n[x](#there)', ['#there']],
])('a link to %s is found', (_what, text, expected) => {
  expect(brokenLinks('docs/settings.md', text)).toEqual(expected)
})

test('the index leads to every page of the documentation', () => {
  const index = links(readText('docs/README.md')).map((target) =>
    normalize(join('docs', target.split('#')[0] ?? '')),
  )
  const others = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
  expect(others.filter((page) => !index.includes(page))).toEqual([])
})

function brokenLinks(page: string, text = readText(page)): string[] {
  return links(text)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page : normalize(join(dirname(page), file))
      if (!existsSync(join(root, path))) return true
      return anchor !== undefined && !anchors(file === '' ? text : readText(path)).has(anchor)
    })
}
