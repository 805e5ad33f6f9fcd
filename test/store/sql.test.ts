import { execFile } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { Client, type FieldDef, type Submittable } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { temporaryFolder } from '../support/folder.ts'
import { emptyDatabase, testDatabase } from '../support/postgres.ts'
import { type RawStatement, readStatements } from '../support/sql-statements.ts'

/**
 * Postgres parses and plans every raw statement, and TypeScript compares the columns of its result with its row type:
 * every claimed column exists, and has a type that Postgres returns. Not covered: extra columns, nulls, the inside of
 * JSON and arrays, statements without a row type (only their names and types inside are checked), and of conditions
 * that are put together at run time, each alternative but not each combination.
 */
const root = join(import.meta.dirname, '../..')
const statements = readStatements(join(root, 'src'))

/** Their fragments are made from lists of columns at run time; the tests of these files run them. */
const madeAtRunTime = [
  'src/service/transfers/due-sweeps.ts',
  'src/store/books/deposits.ts',
  ...Array.from({ length: 4 }, () => 'src/store/ledger/sealed-rows.ts'),
]
/** `fetch` returns the columns of a cursor that only exists at run time. */
const isFetch = ({ texts }: RawStatement) => texts.some((text) => text.startsWith('fetch'))
const isOfService = ({ file }: RawStatement) => file.startsWith(join(root, 'src/service'))

/** A rebuild of the books compares these with tables of its own transaction. */
const hidden = [
  'deposit',
  'withdrawal',
  'evidence',
  'mismatch',
  'ledger_journal',
  'ledger_transfer',
  'credit_safety',
]

/** Compiling all sources takes minutes on a busy machine. */
const compileTimeout = 600_000

type Described = { statement: RawStatement; fields: readonly FieldDef[] }

test(
  'Postgres accepts every raw statement, and returns the columns that its row type claims',
  async () => {
    expect(statements.length).toBeGreaterThan(200)
    const unknown = statements
      .filter(({ texts }) => texts.length === 0)
      .map(({ file }) => relative(root, file))
    expect(unknown).toEqual(madeAtRunTime)
    const { url } = await migratedDatabase('db/migrations')
    const daemon = await describeAll(
      url,
      statements.filter((statement) => !isOfService(statement)),
      hidden.map((name) => `create temp table ${name} (like public.${name} including all)`).join(';'),
    )
    const service = await describeAll(
      (await migratedDatabase('db/service/migrations')).url,
      statements.filter(isOfService),
    )
    expect([...daemon.refused, ...service.refused]).toEqual([])
    expect(await compareTypes([...daemon.described, ...service.described])).toEqual([])
  },
  compileTimeout,
)

async function migratedDatabase(folder: string) {
  const database = folder === 'db/migrations' ? await testDatabase() : await emptyDatabase()
  onTestFinished(database.drop)
  const db = openDatabase({ url: database.url, poolMax: 1, applicationName: 'sql' })
  await migrate(db, join(root, folder))
  await db.destroy()
  return database
}

async function describeAll(url: string, all: readonly RawStatement[], setUp = '') {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(setUp)
  const described: Described[] = []
  const refused: string[] = []
  for (const statement of all)
    for (const text of statement.texts)
      try {
        described.push({ statement, fields: await describeStatement(client, text) })
      } catch (error) {
        refused.push(`${relative(root, statement.file)}:${statement.line} ${(error as Error).message}`)
      }
  await client.end()
  return { described, refused }
}

/** Parses a statement without running it. */
function describeStatement(client: Client, text: string): Promise<readonly FieldDef[]> {
  return new Promise((resolve, reject) => {
    let fields: readonly FieldDef[] = []
    client.query({
      submit(connection: { parse: (x: object) => void; describe: (x: object) => void; sync: () => void }) {
        connection.parse({ name: '', text, types: [] })
        connection.describe({ type: 'S', name: '' })
        connection.sync()
      },
      handleRowDescription: (message: { fields: FieldDef[] }) => void (fields = message.fields),
      handleError: reject,
      handleReadyForQuery: () => resolve(fields),
    } as unknown as Submittable)
  })
}

/** By the number of a type in Postgres, what pg makes of it with the parsers of `openDatabase`. */
const typeOf: Readonly<Record<number, string>> = {
  16: 'boolean',
  17: 'Buffer',
  19: 'string',
  20: 'bigint',
  21: 'number',
  23: 'number',
  25: 'string',
  114: 'any',
  700: 'number',
  701: 'number',
  1009: 'readonly string[]',
  1043: 'string',
  1082: 'string',
  1184: 'Date',
  1185: 'readonly Date[]',
  1700: 'string',
  2950: 'string',
  3802: 'any',
}

const helpers = `
type Named<Row> = keyof Row & keyof { [K in keyof Row as string extends K ? never : K]: unknown }
export type Differing<Claimed, Actual> = { [K in Named<Claimed>]: K extends keyof Actual
  ? ([NonNullable<Claimed[K]>] extends [Actual[K]] ? never : K) : K }[Named<Claimed>]
export type None<Name extends never> = Name
`

/** Adds a comparison to a copy of each source, in which the row type has its meaning, and compiles the copy. */
async function compareTypes(all: readonly Described[]): Promise<string[]> {
  const folder = await temporaryFolder()
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'compared.ts'), helpers)
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['src'] }),
  )
  const typed = all.filter(({ statement }) => statement.row !== null && !isFetch(statement))
  for (const [file, described] of Map.groupBy(typed, ({ statement }) => statement.file)) {
    const copy = join(folder, relative(root, file))
    const compared = relative(join(copy, '..'), join(folder, 'compared.ts'))
    const checks = described.map(({ statement: { row, line }, fields }, index) => {
      const actual = fields.map(
        ({ name, dataTypeID }) => `${JSON.stringify(name)}: ${typeOf[dataTypeID] ?? 'unknown'}`,
      )
      const names = `import('${compared}')`
      return `type Sql${line}_${index} = ${names}.None<${names}.Differing<(${row}), { ${actual.join('; ')} }>>`
    })
    writeFileSync(copy, `${readFileSync(file, 'utf8')}\n${checks.join('\n')}\n`)
  }
  return compile(folder)
}

async function compile(folder: string): Promise<string[]> {
  try {
    await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { maxBuffer: 2 ** 26 })
    return []
  } catch (error) {
    return String((error as { stdout?: string }).stdout)
      .split('\n')
      .filter((line) => line !== '')
  }
}
