import { readFileSync, writeFileSync } from 'node:fs'
import { messageOf } from '../core/errors.ts'
import { wrongUse } from './options.ts'

/**
 * `what` names the file in an error.
 * @throws Fault `usage_bad`
 */
export function readTextFile(what: string, path: string, fix?: string): string {
  return readBytes(what, path, fix).toString('utf8')
}

/** @throws Fault `usage_bad` */
export function readBytes(what: string, path: string, fix = 'give the path of a readable file'): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw wrongUse(`${what} cannot be read: ${messageOf(error)}`, fix, { cause: error })
  }
}

/** @throws Fault `usage_bad` if the file cannot be written */
export function writeOut(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    const problem = `--out cannot be written: ${messageOf(error)}`
    throw wrongUse(problem, 'give the path of a file in an existing folder', { cause: error })
  }
}

/**
 * Only its owner can read it. An existing file stays as it is.
 * @throws Fault `usage_bad` if the file exists or cannot be written
 */
export function writeSecret(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const problem = `--out cannot be written: ${messageOf(error)}`
    throw wrongUse(problem, 'give the path of a new file in an existing folder', { cause: error })
  }
}
