import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { schemeNames, webhookSection } from '../../src/config/webhook-settings.ts'
import { fences, tableRows } from '../support/markdown.ts'
import { readText } from './pages.ts'

const page = readText('docs/webhooks.md')
const [, keys = ''] = page.split('### Keys of every scheme')
const rows = tableRows(keys.split('\n### ')[0] ?? '')

/** Words in back quotes, in their order. */
const quoted = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

const shapes = z.object({
  oneOf: z.array(
    z.object({
      properties: z.record(z.string(), z.looseObject({ const: z.string().optional() })),
      required: z.array(z.string()).default([]),
    }),
  ),
})

/** For each scheme, its keys; `true` where the key has to be given. */
function declared(): Map<string, Map<string, boolean>> {
  const { oneOf } = shapes.parse(z.toJSONSchema(webhookSection, { io: 'input', unrepresentable: 'any' }))
  return new Map(
    oneOf.map(({ properties, required }) => [
      properties.scheme?.const ?? '',
      new Map(Object.keys(properties).map((name) => [name, required.includes(name)])),
    ]),
  )
}

test('every scheme is in the table, and every key of it', () => {
  expect([...declared().keys()]).toEqual([...schemeNames])
  const first = tableRows(page.split('### Keys of every scheme')[0] ?? '').map(({ name }) => name)
  expect(first).toEqual(['webhooks.scheme', ...schemeNames])
  for (const [scheme, own] of declared()) {
    const listed = rows.filter(({ cells }) => quoted(cells[0] ?? '').includes(scheme)).map(({ name }) => name)
    expect([...listed, 'scheme'].toSorted(), scheme).toEqual([...own.keys()].toSorted())
  }
})

test('what is said to be required is, and no other key', () => {
  const wanted = rows.filter(({ cells }) => cells[1]?.endsWith('required')).map(({ name }) => name)
  expect(wanted.toSorted()).toEqual(['algorithm', 'header', 'publicKeys'])
  const required = [...declared()].flatMap(([scheme, own]) =>
    [...own].filter(([name, must]) => must && name !== 'scheme').map(([name]) => `${scheme} ${name}`),
  )
  expect(required.toSorted()).toEqual([
    'hmac header',
    'public-key algorithm',
    'public-key header',
    'public-key publicKeys',
    'shared-secret header',
  ])
})

test('every example is a settings file without a fault', () => {
  const examples = fences(page).filter(({ language }) => language === 'yaml')
  expect(examples.length).toBeGreaterThan(4)
  for (const { text } of examples) expect(parseSettingsFile(text).faults).toEqual([])
})
