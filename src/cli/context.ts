import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { parseDatabaseUrl } from '../config/place.ts'
import { parseSettings, type Settings } from '../config/settings.ts'
import { Fault, messageOf } from '../core/errors.ts'
import { readSettings } from '../sandbox/settings-files.ts'
import { type Database, openDatabase, pingDatabase, standbyFault } from '../store/database.ts'
import { isDenied } from '../store/denied.ts'
import type { Tables } from '../store/tables.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What a command is given: the world outside the program. */
export type Context = {
  environment: Environment
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: Writable
}

/** Where embedded mode keeps everything, below the folder the program is started in. */
export const embeddedFolder = '.depositd'

/** The environment; where it names no database, with the settings that embedded mode left in this folder. */
export function attachedEnvironment({ environment }: Context): Environment {
  if (namesDatabase(environment)) return environment
  const embedded = readSettings(embeddedFolder)
  if (embedded === null) {
    throw new Fault('settings_bad', {
      faults: [`DATABASE_URL is missing, and no "depositd start" has run in this folder`],
    })
  }
  return { ...environment, ...embedded }
}

function namesDatabase(environment: Environment): boolean {
  return environment.DATABASE_URL !== undefined || environment.DATABASE_URL_FILE !== undefined
}

/** What embedded mode says of a file that somebody names in vain; null where none is named. */
export function unreadFile({ DEPOSITD_CONFIG: file }: Environment): string | null {
  if (file === undefined) return null
  return `DEPOSITD_CONFIG is not read: without SERVICE_URL the settings are ${embeddedFolder}/embedded.yaml, which each start makes`
}

export function attachedSettings(context: Context): Settings {
  const unread = namesDatabase(context.environment) ? null : unreadFile(context.environment)
  if (unread !== null) context.stderr.write(`depositd: ${unread}\n`)
  return parseSettings(attachedEnvironment(context), (path) => readFileSync(path, 'utf8'))
}

/** Opens the database for one command and closes it after. */
export async function withDatabase<Result>(
  context: Context,
  work: (db: Database<Tables>) => Promise<Result>,
  queryTimeoutMs?: number,
): Promise<Result> {
  const url = parseDatabaseUrl(attachedEnvironment(context))
  const db = openDatabase<Tables>({
    url,
    poolMax: 4,
    applicationName: 'depositd command',
    ...(queryTimeoutMs !== undefined && { queryTimeoutMs }),
  })
  try {
    await pingDatabase(db).catch(explainUnreachable)
    return await work(db).catch((error: unknown) => explainDenied(error, url))
  } finally {
    await db.destroy()
  }
}

const readOnlyTransaction = '25006'

function explainDenied(error: unknown, url: string): never {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === readOnlyTransaction) throw standbyFault(url, error)
  if (!isDenied(error)) throw error
  const login = decodeURIComponent(new URL(url).username)
  const problem = `${error.message}; ${login} may not do this: run it with the DATABASE_URL of the daemon`
  throw new Fault('remote_failed', { what: 'the database', problem }, { cause: error })
}

/** What is foreseen says already what is wrong. */
export function explainUnreachable(error: unknown): never {
  if (error instanceof Fault) throw error
  const problem = `${messageOf(error)}; is "depositd start" running in this folder, or is DATABASE_URL right?`
  throw new Fault('remote_failed', { what: 'reaching the database', problem }, { cause: error })
}
