import { extname } from 'node:path'
import { parseJournalFile } from '../config/journal-file.ts'
import type { Settings } from '../config/settings.ts'
import { Fault } from '../core/errors.ts'
import { checkImport, refuseImport } from '../jobs/import-owners.ts'
import { additionOf } from '../jobs/people/address-procedures.ts'
import type { ConsolePeople } from '../ops/console/people.ts'
import type { JsonValue } from '../people/decision.ts'
import { readOwnersFile } from '../provider/owners-file.ts'
import { type Database, inTransaction } from '../store/database.ts'
import { removeView, saveView } from '../store/saved-views.ts'
import type { Tables } from '../store/tables.ts'
import type { DatabaseReading } from './console-sign-in.ts'

/** What forms and files of the console ask for, as the command line reads it. */
export function requestingPart(
  db: Database<Tables>,
  { networks }: Settings,
  reading: DatabaseReading,
): Pick<ConsolePeople, 'journalOf' | 'additionOf' | 'saveView' | 'removeView'> {
  return {
    saveView: (view) => reading(inTransaction(db, (tx) => saveView(tx, view))),
    removeView: (view) => reading(removeView(db, view)),
    journalOf(written) {
      const { file, faults } = parseJournalFile(JSON.stringify(written))
      // The form has no lines of a file.
      if (file === null) throw refused(faults.map((fault) => fault.replace(/^line \d+, /, '')).join('; '))
      const change = { ...file, date: file.date.toISOString() } as unknown as JsonValue
      return { kind: 'journal', change }
    },
    async additionOf(kind, { name, content }) {
      const format = { '.csv': 'csv', '.json': 'json' }[extname(name).toLowerCase()]
      if (format !== 'csv' && format !== 'json') throw refused(`${name} is neither .csv nor .json`)
      const { rows, faults } = readOwnersFile(content.toString(), { format, kind })
      const checked = await reading(checkImport({ db, networks }, { kind, rows }))
      if (checked.kind === 'refused' || faults.length > 0)
        refuseImport(name, [...faults, ...(checked.kind === 'refused' ? checked.faults : [])])
      if (!checked.isNew) throw refused(`all of ${name} is in the address book`)
      return { kind: 'addresses', change: additionOf(checked.entries) }
    },
  }
}

function refused(problem: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: 'correct it; nothing was decided' })
}
