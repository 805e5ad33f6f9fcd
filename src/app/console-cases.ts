import type { AlertRules } from '../core/cause.ts'
import { openCauses } from '../core/cause.ts'
import { mentionsIn } from '../jobs/people/mentions.ts'
import type { ConsolePeople } from '../ops/console/people.ts'
import type { ConsoleReader } from '../ops/console/reader.ts'
import { type Database, inTransaction } from '../store/database.ts'
import { readCases } from '../store/gauges.ts'
import { attachFile, readAttachment } from '../store/mismatches/attachments.ts'
import { workOnCases } from '../store/mismatches/cases.ts'
import { listMentions } from '../store/mismatches/mentions.ts'
import { listMismatches, showMismatch } from '../store/mismatches/show-mismatches.ts'
import { readAct, undoAct } from '../store/mismatches/undo.ts'
import { recordAccess } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import type { ReaderLogins } from './console-logins.ts'
import type { DatabaseReading } from './console-sign-in.ts'

/** Only open mismatches have an index by severity. The list of all of them is sorted newest first. */
const listed = {
  open: { also: 'nothing' },
  snoozed: { also: 'snoozed' },
  all: { also: 'all', isNewestFirst: true },
} as const

export function casesPart(
  db: Database<Tables>,
  reading: DatabaseReading,
  alerts: AlertRules,
): Pick<ConsoleReader, 'mismatches' | 'causes' | 'act' | 'mentions' | 'mismatch'> {
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
    causes: async () => openCauses(await reading(readCases(db)), alerts, new Date()),
    act: (event) => reading(readAct(db, event)),
    mentions: (wish) => reading(listMentions(db, wish)),
    mismatch: (id) => reading(showMismatch(db, id)),
  }
}

type CaseWorkDeps = Pick<ReaderLogins, 'toWork'> & { db: Database<Tables>; pinned: string | null }

export function caseWorkPart(
  { db, toWork, pinned }: CaseWorkDeps,
  reading: DatabaseReading,
): Pick<ConsolePeople, 'workOnCases' | 'undoWork' | 'attach' | 'takeAttachment'> {
  return {
    workOnCases: (user, ids, act) =>
      reading(
        inTransaction(toWork(user), async (tx) => {
          const mentions = act.action === 'commented' ? await mentionsIn(tx, pinned, act.text) : []
          return workOnCases(tx, ids, {
            ...act,
            actor: user.person,
            ...(mentions.length > 0 && { mentions }),
          })
        }),
      ),
    attach: (user, mismatch, file) =>
      reading(
        inTransaction(toWork(user), (tx) => attachFile(tx, mismatch, { ...file, person: user.person })),
      ),
    async takeAttachment({ person }, id) {
      const file = await reading(readAttachment(db, id))
      if (file === null) return null
      const detail = `attachment ${id} of mismatch ${file.mismatch}`
      await reading(recordAccess(db, { person, action: 'attachment_taken', detail }))
      return file
    },
    undoWork: (user, event) => reading(inTransaction(toWork(user), (tx) => undoAct(tx, event, user.person))),
  }
}
