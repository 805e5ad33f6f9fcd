import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chosen, expandSql } from '../support/grafana-macros.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { committed, statementsOf } from './dashboard-files.ts'

const statements = committed.flatMap(({ name, dashboard }) =>
  statementsOf(dashboard).map((one) => ({ dashboard: name, ...one })),
)
const names = ['network', 'owner', 'asset']
const from = new Date('2026-01-01T00:00:00Z')
const to = new Date('2026-02-01T00:00:00Z')

describe('the statements of the dashboards, as the accountant', () => {
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

  it.each(statements)('run with all values chosen: $dashboard, $title', async ({ sql }) => {
    await client.query(expandSql(sql, { variables: choosing({ values: ['base'], all: "''" }), from, to }))
  })

  it.each(statements)('run with some, whatever these are called: $dashboard, $title', async ({ sql }) => {
    const values = ['base', "o'hara", '"; drop table deposit; --', '$__timeFrom()', '\\']
    const rows = await client.query(expandSql(sql, { variables: choosing({ values, all: null }), from, to }))
    expect(rows.command).toBe('SELECT')
  })

  it.each(statements.filter(({ sql }) => / as time\b/.test(sql)))(
    'have a column of time first where they are drawn over it: $dashboard, $title',
    async ({ sql }) => {
      const variables = choosing({ values: ['base'], all: "''" })
      const { fields } = await client.query(expandSql(sql, { variables, from, to }))
      const timestamptz = 1184
      expect(fields[0]).toMatchObject({ name: 'time', dataTypeID: timestamptz })
    },
  )
})

function choosing(chosen: Chosen): Map<string, Chosen> {
  return new Map(names.map((name) => [name, chosen]))
}
