import type { Kysely } from 'kysely'
import type { LedgerTransfer } from '../../core/booking-targets.ts'
import { Fault } from '../../core/errors.ts'
import type { DecisionGrounds, Signer } from '../../people/decision.ts'
import { problemOfPerson } from '../../people/register.ts'
import { evidenceOfDeposit } from '../../store/decisions.ts'
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
import { refuseForged } from './check-decisions.ts'
import {
  type DecidedBy,
  type DecisionProcedure,
  type DecisionProcedures,
  readRegister,
  requestDecision,
} from './decide.ts'
import { type LoadMoneyDeps, matchProcedure, writeOffProcedure } from './money-procedures.ts'

type ProcedureSettings = {
  /** Only journals need them, so a close works without the settings. */
  books: () => Pick<ManualJournalDeps, 'accountPatterns' | 'guards'>
  money: LoadMoneyDeps
  pinned: string | null
  now: () => Date
}

/** As `WrittenJournal`, with its date as text. */
export type JournalChange = Omit<WrittenJournal, 'date'> & { date: string }

export type ReversalChange = { journal: string; reason: string }

export type PeriodDecision = Pick<PeriodChange, 'period' | 'action' | 'forced' | 'reason'>

export function createProcedures({ pinned, now, books, money }: ProcedureSettings): DecisionProcedures {
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
            evidenceOfDeposit(tx, id),
          ),
        carryOut: (tx, people) => bookJournal({ db: tx, ...books(), now: now() }, written, approved(people)),
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
      groundsOf(await checkReversal(tx, id, { reason }), (deposit) => evidenceOfDeposit(tx, deposit)),
    async carryOut(tx, people) {
      const byHand = { ...approved(people), reason }
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

function approved({ by, approvedBy, decision }: DecidedBy) {
  return { by, approvedBy: approvedBy ?? '', decision }
}

async function groundsOf(
  { key, eventAt, period, depositId, transfers }: JournalPreview,
  digest: (depositId: bigint) => Promise<string | null>,
): Promise<DecisionGrounds> {
  const journal: DecidedJournal = {
    key,
    event_at: eventAt.toISOString(),
    period,
    deposit: depositId?.toString() ?? null,
    transfers: transfers.map(({ amount, ...line }) => ({ ...line, amount: amount.toString() })),
  }
  return {
    evidence: depositId === null ? null : await digest(depositId),
    books: [journal],
  }
}

/** In the text that is signed; amounts in base units. */
type DecidedJournal = {
  key: string
  event_at: string
  period: string
  deposit: string | null
  transfers: (Omit<LedgerTransfer, 'amount'> & { amount: string })[]
}

/** The journals that a decision books. */
export function decidedJournals({ books }: DecisionGrounds): JournalPreview[] {
  const journals = books.filter((book) => book !== null && typeof book === 'object' && 'transfers' in book)
  return (journals as unknown as DecidedJournal[]).map(
    ({ event_at: at, deposit, transfers, ...journal }) => ({
      ...journal,
      eventAt: new Date(at),
      depositId: deposit === null ? null : BigInt(deposit),
      transfers: transfers.map(({ amount, ...line }) => ({
        ...line,
        amount: BigInt(amount) as LedgerTransfer['amount'],
      })),
    }),
  )
}

const now = () => new Date()

/** For a user alone on their own machine: administrator, and everything that one person may be. Safe to run twice. */
export async function addFirstPerson(db: Kysely<Tables>, signer: Signer): Promise<void> {
  const pinned = signer.key
  if ((await readRegister(db, pinned)).firstKey !== null) return
  const procedures = createProcedures({ books: notNeeded, money: notNeeded, pinned, now })
  const roles = ['administrator', 'accountant', 'operator', 'approver']
  const change = { person: signer.person, roles, keys: [signer.key] }
  await requestDecision({ db, procedures, pinned, now }, { kind: 'person', change }, signer)
}

function notNeeded(): never {
  throw new Error('invariant broken: a decision about people needs no settings')
}
