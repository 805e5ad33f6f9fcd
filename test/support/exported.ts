import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Manifest } from '../../src/jobs/books/export-ledger.ts'
import { runCommand } from './command.ts'
import { temporaryFolder } from './folder.ts'

type Exported = { folder: string; manifest: Manifest; text: string; file: string }

/** What the command writes, with its first file. */
export async function exportOf(url: string, options: string): Promise<Exported> {
  const folder = join(await temporaryFolder(), 'export')
  const { status, out, err } = await runCommand(`ledger export ${options} --json --out ${folder}`, {
    DATABASE_URL: url,
  })
  const problems = err.replaceAll(/^journals exported: .*\n/gm, '')
  expect({ status, problems }).toEqual({ status: 0, problems: '' })
  const manifest = JSON.parse(out) as Manifest
  const file = join(folder, manifest.files[0]?.name ?? '')
  return { folder, manifest, file, text: readFileSync(file, 'utf8') }
}
