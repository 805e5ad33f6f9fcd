import type { Settings } from '../config/settings.ts'
import { Fault } from '../core/errors.ts'
import { exportLedger } from '../jobs/books/export-ledger.ts'
import { refuseForged } from '../jobs/people/check-decisions.ts'
import {
  type ExportedFiles,
  ExportFiles,
  type ExportTarget,
  manifestName,
  manifestText,
} from '../ledger/export/export-folder.ts'
import { disputeLists, evidenceOf } from '../ops/console/dispute.ts'
import type { ConsolePeople } from '../ops/console/people.ts'
import type { ConsoleReader } from '../ops/console/reader.ts'
import type { ZipWriter } from '../ops/console/zip.ts'
import { exportText } from '../presentation/ledger.ts'
import { showNumberedDeposit } from '../store/books/show-deposits.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { readShortDelivery } from '../store/mismatches/short-deliveries.ts'
import { recordAccess } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import type { createBundleMaker } from './evidence-bundle.ts'

/** Rows of a deposit that are shown, or put into a bundle. */
export const evidenceMax = 500

/** @throws Fault `usage_bad` if the bundle would not verify, or has too much evidence */
export async function readBundle(
  db: Database<Tables>,
  id: bigint,
  make: ReturnType<typeof createBundleMaker>,
): Promise<{ id: bigint; text: string } | null> {
  const shown = await showNumberedDeposit(db, id, evidenceMax + 1)
  if (shown === null) return null
  const fix = `run "bin/depositd deposits evidence ${shown.id} --out FILE"`
  if (shown.evidence.length > evidenceMax)
    throw new Fault('usage_bad', { problem: 'too much evidence for a bundle to be made here', fix })
  const made = await make(db, shown)
  if (made === null) return null
  const [failed] = made.failed
  if (failed === undefined) return { id: shown.id, text: made.text }
  const problem = `the bundle would not verify (${failed.check}: ${failed.says})`
  throw new Fault('usage_bad', { problem, fix: `${fix} to see all checks` })
}

/** Null if the mismatch is no short delivery, or evidence has cleared it. */
export async function readDispute(
  db: Database<Tables>,
  id: bigint,
  make: ReturnType<typeof createBundleMaker>,
): ReturnType<ConsoleReader['dispute']> {
  const short = await readShortDelivery(db, id)
  const bundle = short && (await readBundle(db, short.deposit, make))
  if (short === null || bundle === null) return null
  const { deposit, service } = short
  const lists = disputeLists([short], { service, from: null, before: null })
  return { deposit, files: [...lists, { name: evidenceOf(short), text: bundle.text }] }
}

/** As long as a command of the command line. */
const exportQueryMs = 3_600_000

/** One at a time: an export reads all of the books. */
export function createExporter({ databaseUrl: url, people }: Settings): ConsolePeople['exportBooks'] {
  let isRunning = false
  return async ({ person }, { format, isValued, period }, archive) => {
    if (isRunning) throw refused('another export is being made: try again when it has ended')
    isRunning = true
    try {
      await using db = openDatabase<Tables>({
        url,
        poolMax: 2,
        applicationName: 'depositd export',
        role: 'depositd_daemon',
        queryTimeoutMs: exportQueryMs,
      })
      await refuseForged(db, people.administratorKey, 'the command line exports them with --unverified')
      const detail = exportText({ format, isValued, period: period ?? undefined })
      await recordAccess(db, { person, action: 'exported', detail })
      await exportLedger(db, {
        format,
        isValued,
        selection: { from: null, before: null, period, recordedAsOf: null, account: null, owner: null },
        folder: (files) => archiveOf(archive, files),
        onProgress: () => undefined,
      })
    } finally {
      isRunning = false
    }
  }
}

function refused(problem: string): Fault<'request_refused'> {
  return new Fault('request_refused', { status: 409, reason: 'form_refused', problem })
}

async function archiveOf(archive: ZipWriter, exported: ExportedFiles): Promise<ExportTarget> {
  const files = await ExportFiles.begin(exported, async (name) => {
    archive.begin(name)
    return {
      write: (data) => archive.write(data),
      end: async () => archive.end(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  })
  return {
    write: (pieces) => files.write(pieces),
    async finish(manifest) {
      const document = manifest(await files.end())
      await archive.file(manifestName, manifestText(document))
      return document
    },
    [Symbol.asyncDispose]: () => files[Symbol.asyncDispose](),
  }
}
