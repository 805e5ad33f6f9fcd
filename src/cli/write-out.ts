import { writeFileSync } from 'node:fs'
import { Fault, messageOf } from '../core/errors.ts'

/** @throws Fault `usage_bad` if the file cannot be written */
export function writeOut(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new Fault('usage_bad', {
      problem: `--out cannot be written: ${messageOf(error)}`,
      fix: 'give the path of a file in an existing folder',
    })
  }
}
