import { mkdtempSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A folder that is removed when the test has finished. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-folder-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A folder that is removed when the tests of the file have finished. */
export function temporaryFolderOfFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'depositd-folder-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}
