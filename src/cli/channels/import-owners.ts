import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { Fault, messageOf } from '../../core/errors.ts'
import type { Owner } from '../../core/evidence.ts'
import { importOwners, refuseImport } from '../../jobs/import-owners.ts'
import { readOwnersFile } from '../../provider/owners-file/read-owners-file.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { printJson } from '../print.ts'

type ImportOwnersOptions = { file: string; dryRun?: boolean; json?: boolean }

/** Imports a file, or lists every line with an error. */
export async function importOwnersCommand(
  context: Context,
  kind: Owner['kind'],
  { file, dryRun, json }: ImportOwnersOptions,
): Promise<void> {
  const isDryRun = dryRun === true
  const format = formatOf(file)
  const { networks } = attachedSettings(context)
  const { rows, faults } = readOwnersFile(readText(file), { format, kind })
  const imported = await withDatabase(context, (db) =>
    // The readable rows are checked even if others are not, so that all errors are reported at once.
    importOwners({ db, networks }, { kind, rows, isDryRun: isDryRun || faults.length > 0 }),
  )
  if (imported.kind === 'refused' || faults.length > 0)
    refuseImport(basename(file), [...faults, ...(imported.kind === 'refused' ? imported.faults : [])])
  const { owners, added, addresses } = imported
  if (json === true) printJson(context, { owners, added, addresses, dryRun: isDryRun })
  else {
    const would = isDryRun ? 'would be ' : ''
    context.stdout.write(
      `${owners} with ${addresses} addresses; ${added} ${would}added, ${owners - added} known before\n`,
    )
  }
}

function formatOf(file: string): 'csv' | 'json' {
  const extension = extname(file).toLowerCase()
  if (extension === '.csv') return 'csv'
  if (extension === '.json') return 'json'
  throw new Fault('usage_bad', {
    problem: `${file} is neither .csv nor .json`,
    fix: 'name the file after its form',
  })
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Fault(
      'usage_bad',
      { problem: messageOf(error), fix: 'give the path of a file' },
      { cause: error },
    )
  }
}
