import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'
import { allPages, readText, root } from './pages.ts'

/** Words that have a standard term (docs/glossary.md), and turns of phrase that a reader has to read twice. */
const unwanted = [
  /\bmend(s|ed|ing)?\b/i,
  /\b(sighting|dossier|stray|stranger)s?\b/i,
  /\brulings?\b/i,
  /\b(story|stories|untold)\b/i,
  /\b(tells?|told|telling) of\b/i,
  /\b(is|are|was|were) told\b/i,
  /\b(whoever|whatever|somebody|nobody|anybody)\b/i,
  /\bof a lesser kind\b/i,
  /\b(in|into) force\b/i,
  /\bstretch(es)?\b/i,
  /\b(is|are|be) had\b/i,
  /\bno such thing\b/i,
  /\bbe so kind\b/i,
  /\bslips?\b/,
]

const isSql =
  /^\s*(and|or|select|insert|update|delete|with|from|where|set|join)\b|\b(from|join) \w+ (\w+ )?(where|on)\b/

type Passage = { at: string; text: string }

const docs = allPages().map((path) => ({ at: path, text: readText(path) }))
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path))
const comments = sources.flatMap((at) =>
  parseSync(at, readText(at)).comments.map(({ value }) => ({ at, text: value })),
)
/** What people read: texts of several words, without SQL. */
const strings = sources.flatMap((at) =>
  textsOf(parseSync(at, readText(at)).program)
    .filter((text) => /\w \w/.test(text) && !isSql.test(text))
    .map((text) => ({ at, text })),
)

/** Without code, quotations and the targets of links. */
function prose({ at, text }: Passage): Passage {
  const plain = text
    .replaceAll(/^```[\s\S]*?^ *```$/gm, ' ')
    .replaceAll(/`[^`]*`/g, ' ')
    .replaceAll(/"[^"\n]*"/g, ' ')
    .replaceAll(/\]\([^)]*\)/g, ']')
  return { at, text: plain }
}

function found(passages: readonly Passage[]): string[] {
  return passages.map(prose).flatMap(({ at, text }) =>
    unwanted.flatMap((pattern) => {
      const word = pattern.exec(text)
      return word === null ? [] : [`${at}: "${word[0]}" in "${context(text, word.index)}"`]
    }),
  )
}

function context(text: string, index: number): string {
  return text
    .slice(Math.max(0, index - 40), index + 40)
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

/** The texts of a program: literals, and the constant pieces of templates. */
function textsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsOf)
  if (typeof node !== 'object' || node === null) return []
  const { type, tag, quasi, value, ...children } = node as Record<string, unknown>
  if (type === 'TaggedTemplateExpression' && isNamedSql(tag))
    return textsOf((quasi as { expressions: unknown }).expressions)
  if (type === 'Literal') return typeof value === 'string' ? [value] : []
  if (type === 'TemplateElement') return [(value as { cooked: string | null }).cooked ?? '']
  return [quasi, value, ...Object.values(children)].flatMap(textsOf)
}

/** Both `sql` and `sql<Row>` are plain identifiers here. */
function isNamedSql(tag: unknown): boolean {
  return (tag as { name?: string }).name === 'sql'
}

test.each([
  ['the documentation', docs],
  ['comments', comments],
  ['texts of the program', strings],
])('%s: the standard terms', (_what, passages) => {
  expect(passages.length).toBeGreaterThan(10)
  expect(found(passages)).toEqual([])
})

test('"where" is for places: one in a thousand words at most', () => {
  for (const passages of [docs, comments, strings]) {
    const text = passages.map((passage) => prose(passage).text).join(' ')
    expect(count(text, /\bwhere\b/gi) / count(text, /\S+/g)).toBeLessThan(1 / 1000)
  }
})

test('a word is found in prose, and not in code or a quotation', () => {
  const text = 'No `whoever`, no "whoever"\n```sh\nwhoever\n```\n[x](whoever.md)'
  expect(found([{ at: 'x', text }])).toEqual([])
  expect(found([{ at: 'x', text: `${text}\nand whoever` }])).toHaveLength(1)
})
