import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import { fences } from '../support/markdown.ts'
import { environment } from '../support/settings-text.ts'
import { readText } from './pages.ts'

const page = readText('docs/policy.md')
const examples = fences(page).filter(({ language }) => language === 'yaml')

test.each(examples.map(({ text }) => text))(
  'the example is accepted beside the usual networks: %s',
  (text) => {
    expect(parseSettings(environment, () => text).routes.length).toBeGreaterThan(0)
  },
)

test('the page has every key that belongs to no other page', () => {
  expect(examples).toHaveLength(3)
  const sources = readText('src/config/policy-schema.ts')
  const inner = [...sources.matchAll(/\b(\w+): (?:z\.|amount|bps|networkName|assetName)/g)].map(
    ([, name = '']) => name,
  )
  expect(inner).toEqual(expect.arrayContaining(['lowBps', 'sample', 'kind', 'in', 'out', 'model']))
  const pages = page + readText('docs/settings.md')
  expect(inner.filter((name) => !new RegExp(`[\`. {]${name}[\`.: ,]`).test(pages))).toEqual([])
})
