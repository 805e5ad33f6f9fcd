import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { alerts, runbookSections, textOf } from './files.ts'

const runbook = textOf('docs/runbook.md')
const sections = runbookSections()

describe('the runbook', () => {
  it.each(Object.keys(mismatchKinds))('has a section about %s', (kind) => {
    expect([...sections.keys()]).toContain(kind)
  })

  it('has sections about alerts and kinds of mismatch and about nothing else', () => {
    const subjects = [...alerts.map(({ alert }) => alert.toLowerCase()), ...Object.keys(mismatchKinds)]
    expect([...sections.keys()].toSorted()).toEqual(subjects.toSorted())
  })

  it.each([...sections])(
    'says of %s what it means, how to look and mend, and when it is over',
    (_, section) => {
      const leads = [...section.matchAll(/^- \*\*([\w ]+):\*\* \S/gm)].map(([, lead]) => lead)
      expect(leads).toEqual(['Means', 'Look', 'Mend', 'Over when'])
    },
  )

  const commands = new Set(
    [...runbook.matchAll(/npx depositd ([^`\n…]+)/g)].map(([, words = '']) => words.trim()),
  )

  it.each([...commands])('names a command that exists: depositd %s', async (command) => {
    const words = command.split(' ').filter((word) => /^[a-z]+$/.test(word))
    const options = command.split(' ').filter((word) => word.startsWith('--'))
    const path = words.slice(0, 2)
    const help = await helpOf(path)
    expect(help).toMatch(new RegExp(`^Usage: depositd ${path.join(' ')} `))
    expect(options.filter((option) => !help.includes(`${option} `))).toEqual([])
  })
})

describe('the queries of the runbook', () => {
  let database: TestDatabase
  let client: Client
  beforeAll(async () => {
    database = await testDatabase()
    client = new Client({ connectionString: database.url, options: '-c role=depositd_accountant' })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await database.drop()
  })

  const queries = [...runbook.matchAll(/```sql\n(.*?)```/gs)].map(([, query = '']) => query)

  it('are there', () => expect(queries.length).toBeGreaterThan(5))

  it.each(queries)('run as the accountant: %s', async (query) => {
    await expect(client.query(query)).resolves.toMatchObject({ rows: [] })
  })
})

async function helpOf(path: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const status = process.exitCode
  await run({ arguments: [...path, '--help'], environment: {}, stdout, stderr })
  process.exitCode = status
  stdout.end()
  return text(stdout)
}
