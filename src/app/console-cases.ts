import type { AlertRules } from '../core/cause.ts'
import type { ConsoleReader } from '../ops/console/reader.ts'
import type { Database } from '../store/database.ts'
import { readCases } from '../store/gauges.ts'
import { listMismatches, showMismatch } from '../store/mismatches/show-mismatches.ts'
import type { Tables } from '../store/tables.ts'
import { openCauses } from './metrics.ts'

/** Only open mismatches have an index by severity. The list of all of them is sorted newest first. */
const listed = {
  open: { also: 'nothing' },
  snoozed: { also: 'snoozed' },
  all: { also: 'all', isNewestFirst: true },
} as const

/** @param reading throws Fault `remote_failed` on any error of the database */
export function casesPart(
  db: Database<Tables>,
  reading: <Value>(work: Promise<Value>) => Promise<Value>,
  alerts: AlertRules,
): Pick<ConsoleReader, 'mismatches' | 'causes' | 'mismatch'> {
  return {
    mismatches: ({ status, overdue, since, until, ...wish }) =>
      reading(
        listMismatches(db, {
          ...wish,
          ...listed[status],
          isOverdue: overdue === 'yes',
          openedFrom: since,
          openedBefore: until,
        }),
      ),
    causes: async () => openCauses(await reading(readCases(db)), alerts),
    mismatch: (id) => reading(showMismatch(db, id)),
  }
}
