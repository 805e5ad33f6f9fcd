import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { programEnvironment } from './program-environment.ts'
import { isInstalled } from './programs-needed.ts'

export type Spoken = { status: number; out: string; err: string }

type Place = { folder: string; environment?: Readonly<Record<string, string>> }

const main = join(import.meta.dirname, '../../src/main.ts')

/** A line as the docs show it, for a shell in any folder: with the whole path of our program. */
export function inAnyFolder(line: string): string {
  return line.replaceAll('bin/depositd', `'${join(import.meta.dirname, '../../bin/depositd')}'`)
}

/** Runs a line as a person's shell does, in a folder. */
export function shell(line: string, place: Place): Promise<Spoken> {
  return runFile('sh', ['-c', line], place)
}

/** Runs the program to its end, in a folder and with these settings only. */
export function depositd(words: readonly string[], place: Place): Promise<Spoken> {
  return runFile(process.execPath, [main, ...words], place)
}

export const curlInstalled = (): boolean => isInstalled('curl')

/** Runs any program to its end. */
export function runFile(
  file: string,
  words: readonly string[],
  { folder, environment = {} }: Place,
): Promise<Spoken> {
  const env = { ...programEnvironment, ...environment }
  return new Promise((resolve, reject) => {
    execFile(file, words, { cwd: folder, env, maxBuffer: 2 ** 26 }, (error, out, err) => {
      // A string is the name of a fault of the system: the file could not be run at all.
      if (typeof error?.code === 'string') reject(error)
      else resolve({ status: error === null ? 0 : (error.code ?? -1), out, err })
    })
  })
}
