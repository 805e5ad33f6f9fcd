import type { Kysely } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { DecisionGrounds, Signer } from '../../people/decision.ts'
import { problemOfPerson } from '../../people/register.ts'
import { evidenceOfDeposits } from '../../store/decisions.ts'
import { readJournal } from '../../store/ledger/journals.ts'
import type { PeriodChange } from '../../store/ledger/periods.ts'
import type { Tables } from '../../store/tables.ts'
import { decideAllAnew, holdingDecisions } from '../books/activate-rules.ts'
import {
  bookJournal,
  checkJournal,
  type JournalPreview,
  type ManualJournalDeps,
  type WrittenJournal,
} from '../books/book-by-hand.ts'
import { preparePeriodChange } from '../books/close-period.ts'
import { bookReversal, checkReversal } from '../books/reverse-by-hand.ts'
import { addressProcedure } from './address-procedures.ts'
import { refuseForged } from './check-decisions.ts'
import { type DecisionProcedure, type DecisionProcedures, readRegister, requestDecision } from './decide.ts'
import { journalBook, withApprover } from './decided-journals.ts'
import {
  type LoadMoneyDeps,
  matchProcedure,
  resolveProcedure,
  writeOffProcedure,
} from './money-procedures.ts'
import { type LoadOpeningDeps, openingProcedure } from './opening-procedure.ts'
import { policyProcedure } from './policy-procedure.ts'
import { type LoadRestoreDeps, restoreProcedure } from './restore-procedure.ts'

type ProcedureSettings = {
  /** Only journals need them, so a close works without the settings. */
  books: () => Pick<ManualJournalDeps, 'accountPatterns' | 'guards'>
  money: LoadMoneyDeps
  opening: LoadOpeningDeps
  restore: LoadRestoreDeps
  /** How many people a change of the address book takes. */
  addressPeople: () => 1 | 2
  pinned: string | null
  now: () => Date
}

/** As `WrittenJournal`, with its date as text. */
export type JournalChange = Omit<WrittenJournal, 'date'> & { date: string }

export type ReversalChange = { journal: string; reason: string }

export type PeriodDecision = Pick<PeriodChange, 'period' | 'action' | 'forced' | 'reason'>

export function createProcedures({
  pinned,
  now,
  books,
  money,
  ...load
}: ProcedureSettings): DecisionProcedures {
  return {
    person: async (_db, change) => ({
      people: 1,
      async grounds(tx) {
        const problem = problemOfPerson(await readRegister(tx, pinned), { change })
        if (problem === null) return { evidence: null, books: [] }
        throw new Fault('usage_bad', { problem, fix: 'correct it; nothing was decided' })
      },
      carryOut: async () => null,
    }),
    journal: async (_db, change) => {
      const { date, ...rest } = change as unknown as JournalChange
      const written: WrittenJournal = { ...rest, date: new Date(date) }
      return {
        people: 2,
        grounds: async (tx) =>
          groundsOf(await checkJournal({ db: tx, ...books(), now: now() }, written), (id) =>
            evidenceOfDeposits(tx, [id]),
          ),
        carryOut: (tx, people) =>
          bookJournal({ db: tx, ...books(), now: now() }, written, withApprover(people)),
      }
    },
    reversal,
    close: async (db, change, at) => {
      if (!(change as PeriodDecision).forced)
        await refuseForged(db, pinned, 'with --force, two people close the month regardless')
      return changeOfPeriod(db, change, at)
    },
    reopen: changeOfPeriod,
    write_off: writeOffProcedure(money),
    match: matchProcedure(money),
    resolve: resolveProcedure(money),
    addresses: addressProcedure(load.addressPeople),
    opening: openingProcedure(load.opening),
    restore: restoreProcedure(load.restore),
    policy: policyProcedure,
  }
}

const reversal: DecisionProcedure = async (db, change) => {
  const { journal, reason } = change as ReversalChange
  const id = BigInt(journal)
  const isOpening = (await readJournal(db, id))?.kind === 'opening'
  let undone: { digest: string | null } | null = null
  return {
    people: 2,
    grounds: async (tx) =>
      groundsOf(await checkReversal(tx, id, { reason }), (deposit) => evidenceOfDeposits(tx, [deposit])),
    async carryOut(tx, people) {
      const byHand = { ...withApprover(people), reason }
      if (!isOpening) return bookReversal(tx, id, byHand)
      const { result, digest } = await holdingDecisions(tx, () => bookReversal(tx, id, byHand))
      undone = { digest }
      return result
    },
    // Without the opening, what happened before it is to be booked.
    finish: async () => void (undone && (await decideAllAnew(db, undone.digest))),
  }
}

const changeOfPeriod: DecisionProcedure = async (db, change) => {
  const { reason, ...wanted } = change as PeriodDecision
  const prepared = await preparePeriodChange(db, wanted)
  return {
    people: wanted.forced || wanted.action === 'reopened' ? 2 : 1,
    grounds: async (tx) => ({
      evidence: null,
      books: [{ period: wanted.period, action: wanted.action, balance: await prepared.balance(tx) }],
    }),
    carryOut: (tx, people) => prepared.change(tx, { ...people, reason }),
  }
}

async function groundsOf(
  journal: JournalPreview,
  digest: (depositId: bigint) => Promise<string | null>,
): Promise<DecisionGrounds> {
  const { depositId } = journal
  return { evidence: depositId === null ? null : await digest(depositId), books: [journalBook(journal)] }
}

const now = () => new Date()

/** For a user alone on their own machine: administrator, and everything that one person may be. Safe to run twice. */
export async function addFirstPerson(db: Kysely<Tables>, signer: Signer): Promise<void> {
  const pinned = signer.key
  if ((await readRegister(db, pinned)).firstKey !== null) return
  const procedures = createProcedures({ ...needless, pinned, now })
  const roles = ['administrator', 'accountant', 'operator', 'approver']
  const change = { person: signer.person, roles, keys: [signer.key] }
  await requestDecision({ db, procedures, pinned, now }, { kind: 'person', change }, signer)
}

function notNeeded(): never {
  throw new Error('invariant broken: a decision about people needs no settings')
}

const needless = {
  books: notNeeded,
  money: notNeeded,
  opening: notNeeded,
  restore: notNeeded,
  addressPeople: notNeeded,
}
