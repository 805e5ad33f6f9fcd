import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tableRows, withoutFences } from '../support/markdown.ts'
import { readText, root } from './pages.ts'

type Manifest = Record<'dependencies' | 'devDependencies' | 'allowScripts', Record<string, string | boolean>>

const page = withoutFences(readText('docs/internals/dependencies.md'))
const manifest = JSON.parse(readText('package.json')) as Manifest
const lists = [
  { section: 'At run time', list: 'dependencies' },
  { section: 'For development', list: 'devDependencies' },
] as const

/** The rows of the tables under one heading. */
function rowsOf(section: string) {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  return tableRows(text.split('\n## ')[0] ?? '')
}

function filesOf(where: string | undefined): string[] {
  return [...(where ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)
}

test.each(lists)('"$section" lists exactly the $list of package.json', ({ section, list }) => {
  expect(rowsOf(section).map(({ name }) => name)).toEqual(Object.keys(manifest[list]).toSorted())
})

test.each(lists)('every row of "$section" has a reason and files that exist', ({ section }) => {
  for (const { name, cells } of rowsOf(section)) {
    const [reason = '', where] = cells
    const files = filesOf(where)
    expect(reason, name).toMatch(/^[A-Z].*\.$/)
    expect(files.length, name).toBeGreaterThan(0)
    expect(
      files.filter((file) => !existsSync(join(root, file))),
      name,
    ).toEqual([])
  }
})

test('no source file imports a package that is not said to be used there', () => {
  const used = rowsOf('At run time').map(({ name, cells }) => ({ name, places: filesOf(cells[1]) }))
  const undocumented = sources().flatMap((file) =>
    importsOf(file)
      .filter(
        (name) =>
          !used.some((one) => one.name === name && one.places.some((place) => file.startsWith(place))),
      )
      .map((name) => `${file} imports ${name}`),
  )
  expect(undocumented).toEqual([])
})

test('every file or folder that is said to use a package does', () => {
  const idle = rowsOf('At run time').flatMap(({ name, cells }) =>
    filesOf(cells[1])
      .filter(
        (place) => !sources().some((file) => file.startsWith(place) && readText(file).includes(`'${name}`)),
      )
      .map((place) => `${place} does not name ${name}`),
  )
  expect(idle).toEqual([])
})

test('exact versions and install scripts are as package.json has them', () => {
  const exact = Object.entries(manifest.dependencies).filter(([, range]) => /^\d/.test(String(range)))
  expect(exact).toEqual([['viem', '2.57.1']])
  expect(page).toContain('`viem` | Pinned to exactly 2.57.1')
  const scripts = rowsOf('Install scripts').map(({ name, cells }) => [name, cells[0] === 'yes'])
  expect(Object.fromEntries(scripts)).toEqual(manifest.allowScripts)
})

function sources(): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`)
}

/** Packages of which a file uses more than types. */
function importsOf(file: string): string[] {
  const pattern = /^import (?!type )[^'"]*?from '([^'.][^']*)'/gm
  const specifiers = [...readText(file).matchAll(pattern)].map(([, specifier = '']) => specifier)
  const names = specifiers.map((specifier) =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  )
  return [...new Set(names)].filter((name) => !name.startsWith('node:'))
}
