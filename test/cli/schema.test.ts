import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate, migrationsFolder } from '../../src/store/migrate.ts'
import { runCommand } from '../support/command.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { emptyDatabase, run as runSql, testDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const create = `channels create shop --network base --asset USDC --recipient 0x${'1'.repeat(40)}`

test.each([create, 'deposits list'])('%s names a schema that is missing, and the fix', async (line) => {
  const { url, drop } = await emptyDatabase()
  onTestFinished(drop)
  const { status, out, err } = await runCommand(line, judgingEnvironment(url))
  expect({ status, out }).toEqual({ status: 4, out: '' })
  expect(err).toMatch(
    /^depositd: the schema of the database: it is missing, but this version needs \d{4}_\w+; run "bin\/depositd migrate", or start the daemon, which migrates\n$/,
  )
})

test('a schema that is behind is named with the version that it is at', async () => {
  const { url, drop } = await testDatabase()
  onTestFinished(drop)
  await runSql(url, `delete from kysely_migration where name > '0002'`)
  const { status, err } = await runCommand('deposits list', judgingEnvironment(url))
  expect(status).toBe(4)
  expect(err).toMatch(
    /^depositd: the schema of the database: it is at 0001_\w+, but this version needs \d{4}_/,
  )
})

test.each(['deposits list', 'migrate'])(
  '%s refuses a schema that files of another version made, and says how to start afresh',
  async (line) => {
    const { url, drop } = await testDatabase()
    onTestFinished(drop)
    await runSql(
      url,
      `update kysely_migration set name = '0037_leg_searches' where name = (select max(name) from kysely_migration)`,
    )
    const { status, out, err } = await runCommand(line, judgingEnvironment(url))
    expect({ status, out }).toEqual({ status: 4, out: '' })
    expect(err).toBe(
      'depositd: the database was created by another version or program: this version has no migration 0037_leg_searches, and it cannot upgrade from versions before 0.1.0; to start again, delete the folder .depositd, or use a new, empty database\n',
    )
    const { out: document } = await runCommand(`${line} --json`, judgingEnvironment(url))
    expect(JSON.parse(document)).toMatchObject({
      error: {
        code: 'schema_unknown',
        fix: 'to start again, delete the folder .depositd, or use a new, empty database',
      },
    })
  },
)

test('a command that meets a migration waits for its end, and says so', async () => {
  const { url, drop } = await emptyDatabase()
  onTestFinished(drop)
  const db = openDatabase({ url, poolMax: 1, applicationName: 'test' })
  onTestFinished(() => db.destroy())
  const holder = new Client({ connectionString: url })
  await holder.connect()
  // The lock under which Kysely migrates: the migration itself waits for it, and is there when it is given back.
  await holder.query('select pg_advisory_lock(3853314791062309107)')
  const migrated = migrate(db, migrationsFolder)
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const status = run({
    arguments: ['deposits', 'list'],
    environment: judgingEnvironment(url),
    stdout,
    stderr,
  })
  await once(stderr, 'readable')
  expect(stderr.read()?.toString()).toBe('depositd: waiting for a running migration\n')
  await until('the migration is next', async () => {
    const { rows } = await holder.query(`select from pg_locks where locktype = 'advisory' and not granted`)
    return rows.length === 1 || null
  })
  await holder.end()
  expect(await status).toBe(0)
  expect(await migrated).toContain('0001_evidence')
})
