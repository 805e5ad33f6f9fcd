import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { type Environment, embeddedFolder, isSet, readFrom } from '../config/environment.ts'
import { readDatabaseUrl } from '../config/environment-settings.ts'
import { parseSettings, type Settings } from '../config/settings.ts'
import { Fault, isFault, messageOf } from '../core/errors.ts'
import { readSettings } from '../sandbox/settings-files.ts'
import { type Database, openDatabase, pingDatabase, standbyFault } from '../store/database.ts'
import { isDenied, isUnreachable } from '../store/database-errors.ts'
import { awaitSchema, migrationsFolder } from '../store/migrate.ts'
import type { Tables } from '../store/tables.ts'

export type ProgramContext = {
  arguments: readonly string[]
  environment: Environment
  stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number }
  stderr: Writable
}

/** `json` if the command prints a document. */
export type Context = ProgramContext & { json: boolean }

/** For commands whose first row Postgres may have to add up, sort or count millions of rows for. */
export const longQueryMs = 3_600_000

/** If the environment names no database, adds the settings that embedded mode left in this folder. */
export function attachedEnvironment({ environment }: Context): Environment {
  if (isSet(environment, 'DATABASE_URL')) return environment
  const embedded = readSettings(embeddedFolder)
  if (embedded === null) {
    throw new Fault('settings_bad', {
      faults: [`DATABASE_URL is not set, and "bin/depositd start" has not run in this folder`],
    })
  }
  return { ...environment, ...embedded }
}

/** Embedded mode does not read the settings file; null if the environment names none. */
export function unreadFile({ DEPOSITD_CONFIG: file }: Environment): string | null {
  if (file === undefined) return null
  return `DEPOSITD_CONFIG is ignored: without SERVICE_URL, the settings are ${embeddedFolder}/embedded.yaml, which each start writes`
}

export function attachedSettings(context: Context): Settings {
  const unread = isSet(context.environment, 'DATABASE_URL') ? null : unreadFile(context.environment)
  if (unread !== null) context.stderr.write(`depositd: ${unread}\n`)
  return parseSettings(attachedEnvironment(context), (path) => readFileSync(path, 'utf8'))
}

/** For commands that need only the database URL, and do more if all settings are there. */
export function settingsOrProblem(context: Context): { settings: Settings } | { problem: string } {
  try {
    return { settings: attachedSettings(context) }
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return { problem: error.details.faults.join('; ') }
  }
}

export async function withDatabase<Result>(
  context: Context,
  work: (db: Database<Tables>) => Promise<Result>,
  queryTimeoutMs?: number,
): Promise<Result> {
  const url = readFrom(attachedEnvironment(context), readDatabaseUrl)
  const timeout = queryTimeoutMs === undefined ? {} : { queryTimeoutMs }
  await using db = openDatabase<Tables>({ url, poolMax: 4, applicationName: 'depositd command', ...timeout })
  await pingDatabase(db).catch(explainUnreachable)
  const waiting = () => void context.stderr.write('depositd: waiting for a running migration\n')
  try {
    await awaitSchema(db, { folder: migrationsFolder, waiting })
    return await work(db)
  } catch (error) {
    return explainFailure(error, url)
  }
}

const readOnlyTransaction = '25006'
/** SQLSTATE of a missing schema, table, column or function. */
const schemaLacks = /^(?:3F000|42P01|42703|42883)$/
/** SQLSTATE of an unknown login or database. */
const loginRefused = /^(?:28...|3D000)$/
function explainFailure(error: unknown, url: string): never {
  if (error instanceof Fault) throw error
  const [code, message] = [codeOf(error), messageOf(error)]
  if (code === readOnlyTransaction) throw standbyFault(url, error)
  if (isDenied(error)) {
    const login = decodeURIComponent(new URL(url).username)
    const faults = [`DATABASE_URL: ${message}; ${login} lacks the right`]
    throw new Fault(
      'settings_bad',
      {
        faults,
        fix: "use the daemon's DATABASE_URL; for decisions, set DECISIONS_DATABASE_URL to a member of depositd_decider",
      },
      { cause: error },
    )
  }
  if (schemaLacks.test(code)) {
    const problem = `${message}: it does not exist yet, or has another version`
    const fix = 'run "bin/depositd migrate", or wait for a running migration'
    throw new Fault('remote_failed', { what: 'the schema of the database', problem, fix }, { cause: error })
  }
  if (!isUnreachable(error)) throw error
  const what = 'the connection to the database was lost'
  throw new Fault('remote_failed', { what, problem: message, fix: 'try again' }, { cause: error })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** @throws Fault with the fix, if the database does not answer */
export function explainUnreachable(error: unknown): never {
  if (error instanceof Fault) throw error
  const problem = messageOf(error)
  if (loginRefused.test(codeOf(error))) {
    const fix = 'correct its user, password and database'
    throw new Fault('settings_bad', { faults: [`DATABASE_URL: ${problem}`], fix }, { cause: error })
  }
  const fix = 'run "bin/depositd start" in this folder, or correct DATABASE_URL'
  throw new Fault('remote_failed', { what: 'reaching the database', problem, fix }, { cause: error })
}
