import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import { events } from '../../src/log/log-event.ts'
import { alerts, recordings } from '../support/alert-rules.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { runbookSections, textOf } from './files.ts'
import { declaredSeries } from './promql.ts'

const runbook = textOf('docs/runbook.md')
const sections = runbookSections()
const roles = new Set(['depositd_accountant', 'depositd_daemon'])

describe('the runbook', () => {
  it('has sections about alerts and kinds of mismatch and about nothing else', () => {
    const subjects = [...alerts.map(({ alert }) => alert.toLowerCase()), ...Object.keys(mismatchKinds)]
    expect([...sections.keys()].toSorted()).toEqual(subjects.toSorted())
  })

  it('says of each what it means, what to check, how to fix it, and when it ends', () => {
    for (const [subject, section] of sections) {
      const leads = [...section.matchAll(/^- \*\*([\w ]+):\*\* \S/gm)].map(([, lead]) => lead)
      expect(leads, subject).toEqual(['Means', 'Check', 'Fix', 'Ends when'])
    }
  })

  const commands = new Set(
    [...runbook.matchAll(/bin\/depositd ([^`\n…]+)/g)].map(([, words = '']) => words.trim()),
  )

  it.each([...commands])('names a command that is understood: depositd %s', async (command) => {
    const words = command.split(' ')
    const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
    const path = end === -1 ? words : words.slice(0, end)
    expect(misfits(words.slice(path.length), path, await helpOf(path))).toEqual([])
  })

  it('names only alerts, metrics and events that there are', () => {
    const series = new Set([...declaredSeries.keys(), ...recordings.map(({ record }) => record)])
    const metrics = new Set([...series].map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))
    expect(
      named(/\b(depositd[_:][a-z][\w:]*)/g).filter((name) => !metrics.has(name) && !roles.has(name)),
    ).toEqual([])
    expect(named(/\bevent `(\w+)`/g).filter((name) => !(name in events))).toEqual([])
    const known = new Set(alerts.map(({ alert }) => alert))
    expect(named(/\b(Depositd[A-Z]\w+)/g).filter((name) => !known.has(name))).toEqual([])
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

  it('stand all by themselves', () => expect(named(/`(select [^`]*)`/gi)).toEqual([]))

  it.each(queries)('run as the accountant, or as the role they name: %s', async (query) => {
    const [, role = 'none', rows = query] = /^set role (\w+);\n(.*)/s.exec(query) ?? []
    await client.query(role === 'none' ? 'reset role' : `set role ${role}`)
    await expect(client.query(rows)).resolves.toMatchObject({ rows: [] })
  })
})

/** What the runbook names in one way. */
function named(pattern: RegExp): string[] {
  return [...runbook.matchAll(pattern)].map(([, name = '']) => name)
}

/** What of the words after a command it does not take, or does without, by its own help. */
function misfits(words: readonly string[], path: readonly string[], help: string): string[] {
  const [usage = ''] = help.split('\n')
  if (!usage.startsWith(`Usage: depositd ${path.join(' ')} [options]`)) return [`no command: ${usage}`]
  const options = words.filter((word) => word.startsWith('--'))
  const unknown = options.filter((option) => !help.includes(`${option} `))
  const valued = options.filter((option) => help.includes(`${option} <`))
  const values = valued.map((option) => words[words.indexOf(option) + 1] ?? '--')
  const given = words.length - options.length - values.length
  const needed = usage.match(/<[^>]+>/g)?.length ?? 0
  const takesMore = /\[(?!options\])|\.\.\./.test(usage)
  if (given < needed || (given > needed && !takesMore)) unknown.push(`${given} words, not ${needed}`)
  return [...unknown, ...values.filter((value) => value.startsWith('--'))]
}

async function helpOf(path: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const status = process.exitCode
  await run({ arguments: [...path, '--help'], environment: {}, stdout, stderr })
  process.exitCode = status
  stdout.end()
  return text(stdout)
}
