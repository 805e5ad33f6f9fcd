import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Environment } from '../../config/environment.ts'

/** The token of "depositd login"; null if there is none. */
export function readSavedToken(environment: Environment): string | null {
  try {
    return readFileSync(pathOf(environment), 'utf8').trim()
  } catch {
    return null
  }
}

/** Only the user of this system can read it. @returns the path of the file */
export function saveToken(environment: Environment, token: string): string {
  const path = pathOf(environment)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' })
  return path
}

export function removeSavedToken(environment: Environment): void {
  rmSync(pathOf(environment), { force: true })
}

function pathOf({ XDG_CONFIG_HOME: home }: Environment): string {
  return join(home ?? join(homedir(), '.config'), 'depositd', 'session')
}
