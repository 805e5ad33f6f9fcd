import { rm } from 'node:fs/promises'
import { afterAll, onTestFinished } from 'vitest'
import { makeFolder } from './make-folder.ts'

/** A folder that is removed when the test has finished. */
export async function temporaryFolder(): Promise<string> {
  const folder = makeFolder('depositd-folder-')
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A folder that is removed when the tests of the file have finished. */
export function temporaryFolderOfFile(): string {
  const folder = makeFolder('depositd-folder-')
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}
