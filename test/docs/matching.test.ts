import { expect, test } from 'vitest'
import { linkRules } from '../../src/core/matching/link.ts'
import { deliveryRules, paymentRules } from '../../src/core/matching/propose.ts'
import { readText } from './pages.ts'

/** The rows of the table with that heading, of the cells that the code knows too. */
function tableOf(heading: string): string[][] {
  const [, after = ''] = readText('docs/matching.md').split(`\n| ${heading} | Weight |`)
  const lines = after.split('\n\n')[0]?.split('\n').slice(2) ?? []
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, 4)
      .map((cell) => cell.trim()),
  )
}

test.each([
  ['Payment', paymentRules],
  ['Delivery', deliveryRules],
] as const)('the rules of a %s are those of the code, with their weights', (heading, rules) => {
  const inCode = rules.map(({ name, weight, isNeeded }) => [
    `\`${name}\``,
    String(weight),
    isNeeded ? 'yes' : 'no',
  ])
  expect(tableOf(heading)).toEqual(inCode)
})

test('the rules by which a transfer comes to a deposit are those of the code, in their order', () => {
  const rows = readText('docs/matching.md').split('\n| Rule | A payment |')[1]?.split('\n\n')[0] ?? ''
  const names = [...rows.matchAll(/^\| `([^`]+)` /gm)].map(([, name]) => name)
  expect(names).toEqual(Object.keys(linkRules))
})
