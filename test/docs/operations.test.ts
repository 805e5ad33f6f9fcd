import { expect, test } from 'vitest'
import { judgeVitals } from '../../src/health.ts'
import { compose } from '../support/compose-file.ts'
import { readText } from './pages.ts'

const page = readText('docs/operations.md')

/** Cells of the rows of the table below that heading, without their marks. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'))
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

test('the sizes and networks of the compose file are told', () => {
  const reported = rowsBelow('With Docker Compose').map(([name, , cpus, memory, networks]) => [
    name,
    cpus,
    memory,
    networks,
  ])
  const given = Object.entries(compose.services).map(([name, { deploy, networks }]) => {
    const { cpus, memory } = deploy.resources.limits
    return [name, cpus, memory.replace('M', ' MiB').replace('G', ' GiB'), networks.join(', ')]
  })
  expect(reported).toEqual(given)
})

test('every part of readiness is told', () => {
  const vitals = { migrations: [], isReadOnly: false, inboxOldest: 0, ages: new Map() }
  const streams = new Map([
    ['poll', 300],
    ['scan/NETWORK', 300],
  ])
  const judged = judgeVitals(vitals, { migrations: [], streams, waited: 0 })
  const reported = rowsBelow('Health').flatMap(([parts = '']) => parts.split(', '))
  const parts = ['start', 'stop', 'database', 'queue', ...judged.map(({ part }) => part)]
  expect(parts.filter((part) => !reported.includes(part))).toEqual([])
})
