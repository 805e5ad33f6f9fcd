import { expect, test } from 'vitest'
import { page as interfacePage } from '../conformance/page.ts'
import { readText } from './pages.ts'

/** The table of what the interface does not show, held to the list that was made from the interface page itself. */
const [, section = ''] = readText('docs/deposit-service.md').split('\n## What is ours\n')
const [gaps = '', readings = ''] = (section.split('\n## ')[0] ?? '').split('\nSome of what it states')

function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('| '))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

test('every gap of the interface stands beside our choice, in its words and its order', () => {
  const asked = interfacePage.flatMap(({ name, gaps: listed }) =>
    listed.flatMap(({ asks }) => asks.map((ask) => [name, ask])),
  )
  expect(rowsOf(gaps).map(([heading, ask]) => [heading, ask])).toEqual(asked)
  for (const [, ask, choice = ''] of rowsOf(gaps)) expect(choice, ask).toMatch(/^.{5,}\.$/)
})

test('what leaves room is quoted as the interface states it', () => {
  const stated = interfacePage.flatMap(({ facts }) => facts.map(({ says }) => says)).join('\n')
  expect(rowsOf(readings).length).toBeGreaterThan(3)
  for (const [quote = '', reading = ''] of rowsOf(readings)) {
    expect(stated).toContain(quote)
    expect(reading).toMatch(/\.$/)
  }
})
