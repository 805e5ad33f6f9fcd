import { createHash } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { LedgerTransfer } from '../../core/posting.ts'
import { checkSecondPerson } from '../../core/second-person.ts'
import { type DraftLine, draftTransfers, isReason } from '../../ledger/journals/draft-journal.ts'
import { readAssetNames } from '../../store/assets.ts'
import { inTransaction } from '../../store/database.ts'
import {
  adjustmentPeriod,
  type BookedJournal,
  type ByHand,
  bookByHand,
  idOfKey,
  openedAccounts,
  readJournal,
  reversalPeriod,
} from '../../store/ledger/manual-journals.ts'
import type { Tables } from '../../store/tables.ts'

/** A journal as somebody wrote it down. */
export type WrittenJournal = {
  date: Date
  reason: string
  reference?: string | undefined
  lines: readonly DraftLine[]
}

type ManualJournalDeps = {
  db: Kysely<Tables>
  /** Patterns of the accounts that the settings know. */
  known: readonly string[]
  now: Date
}

/** What would be booked, and in the books of which month. */
export type JournalPreview = Pick<BookedJournal, 'key' | 'eventAt' | 'period' | 'transfers'>

/**
 * Books a journal by hand, whole or not at all. The same journal, or another with its reference, is booked once.
 * @throws Fault `usage_bad` that says all that is wrong with it.
 */
export async function addJournal(
  deps: ManualJournalDeps,
  written: WrittenJournal,
  people: Omit<ByHand, 'reason'>,
): Promise<BookedJournal> {
  refuseOnePerson(people)
  refuseReason(written.reason)
  return await withoutRace(() =>
    inTransaction(deps.db, async (tx) => {
      const { key, transfers, period } = await checkJournal({ ...deps, db: tx }, written)
      const journal = { key, kind: 'manual' as const, reverses: null, eventAt: written.date, transfers }
      const booked = await found(tx, await bookByHand(tx, journal, { ...people, reason: written.reason }))
      // Its month was closed in between: it is checked again, and refused.
      if (booked.period !== period) throw new Fault('conflict', { what: 'booking by hand' })
      return booked
    }),
  )
}

/**
 * What `addJournal` would book.
 * @throws Fault `usage_bad` where it would refuse it.
 */
export async function checkJournal(
  { db, known, now }: ManualJournalDeps,
  { date, reason, reference, lines }: WrittenJournal,
): Promise<JournalPreview> {
  if (date > now) throw refused(`${date.toISOString()} is in the future`, 'date it when it happened')
  const named = lines.flatMap(({ debit, credit }) => [debit, credit].filter((one) => one !== undefined))
  refuseTransit(named)
  const opened = await openedAccounts(db, named)
  const books = {
    assets: await readAssetNames(db),
    // A pattern of the settings is no account, also where something was booked to one of that name.
    isKnown: (account: string) => !account.includes('*') && (opened.has(account) || known.includes(account)),
  }
  const { transfers, faults } = draftTransfers(lines, books)
  if (faults.length > 0) throw refused(faults.join('; '), 'mend the file')
  const key = `manual/${reference ?? digestOf({ date, reason, transfers })}`
  const before = await idOfKey(db, key)
  if (before !== null) throw bookedBefore(before, await readJournal(db, before))
  const { period, belongsTo } = await adjustmentPeriod(db, date)
  if (period !== belongsTo)
    throw refused(
      `${belongsTo.slice(0, 7)} is closed`,
      `date it in an open month, the first of which is ${period.slice(0, 7)}, or reopen that one`,
    )
  return { key, eventAt: date, period, transfers }
}

/**
 * Takes back a journal that was booked by hand. It has the date of what it takes back; where that month is closed, it
 * stands in the books of the next one that is open.
 * @throws Fault `usage_bad`
 */
export async function reverseJournal(db: Kysely<Tables>, id: bigint, byHand: ByHand): Promise<BookedJournal> {
  refuseOnePerson(byHand)
  refuseReason(byHand.reason)
  return await withoutRace(() =>
    inTransaction(db, async (tx) => {
      const { key, eventAt, transfers } = reversalOf(await reversible(tx, id))
      const reverses = key.slice(reversalPrefix.length)
      const journal = { key, kind: 'reversal' as const, reverses, eventAt, transfers }
      return found(tx, await bookByHand(tx, journal, byHand))
    }),
  )
}

/**
 * What `reverseJournal` would book.
 * @throws Fault `usage_bad` where it would refuse it.
 */
export async function checkReversal(db: Kysely<Tables>, id: bigint, byHand: ByHand): Promise<JournalPreview> {
  refuseOnePerson(byHand)
  refuseReason(byHand.reason)
  const original = await reversible(db, id)
  return { ...reversalOf(original), period: await reversalPeriod(db, original) }
}

async function reversible(db: Kysely<Tables>, id: bigint): Promise<BookedJournal> {
  const original = await readJournal(db, id)
  if (original === null)
    throw new Fault('not_found', {
      problem: `there is no journal ${id}`,
      mend: 'take a number from "bin/depositd ledger journal list"; nothing was booked',
    })
  refuseReversal(original)
  return original
}

const reversalPrefix = 'reversal/'

function reversalOf({ key, eventAt, transfers }: BookedJournal): Omit<JournalPreview, 'period'> {
  const back = transfers.map(({ debit, credit, ...rest }) => ({ debit: credit, credit: debit, ...rest }))
  return { key: `${reversalPrefix}${key}`, eventAt, transfers: back }
}

function refuseReversal({ id, kind, byHand, reversedBy }: BookedJournal): void {
  if (kind === 'reversal')
    throw refused(`journal ${id} is a reversal, which is not reversed`, 'add what is right as a new journal')
  if (byHand === null)
    throw refused(
      `journal ${id} follows from evidence, and is reversed when the evidence changes`,
      'decide about the deposit: "bin/depositd deposits match" and "split", "bin/depositd mismatches write-off"',
    )
  if (reversedBy !== null)
    throw refused(
      `journal ${id} is reversed already, by journal ${reversedBy}`,
      'add what is right as a new journal',
    )
}

/** What is in transit is held against the balances on the chain, so it follows from evidence alone. */
function refuseTransit(accounts: readonly string[]): void {
  const account = accounts.find((one) => `${one}:`.startsWith('assets:in_transit:'))
  if (account === undefined) return
  throw refused(
    `${account} is not booked to by hand: what is in transit follows from evidence`,
    'end what is stuck there with "bin/depositd mismatches write-off"',
  )
}

function refuseReason(reason: string): void {
  if (isReason(reason)) return
  throw refused('the reason is no line of 1 to 1000 characters', 'say it in one line')
}

function refuseOnePerson({ by, approvedBy }: Pick<ByHand, 'by' | 'approvedBy'>): void {
  checkSecondPerson(
    { network: '', symbol: null, decimals: null, amount: null },
    { by, approvedBy },
    new Map(),
  )
}

async function found(tx: Transaction<Tables>, id: bigint): Promise<BookedJournal> {
  const journal = await readJournal(tx, id)
  if (journal === null) throw new Error(`journal ${id} was booked and is not there`)
  return journal
}

const uniqueViolation = '23505'

/** Who books the same at the same moment waits for the first, and then finds it booked. */
async function withoutRace<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === uniqueViolation)) throw error
    return await work()
  }
}

function bookedBefore(id: bigint, journal: BookedJournal | null): Fault {
  const reversedBy = journal?.reversedBy ?? null
  if (reversedBy === null)
    return refused(
      `this is booked already, as journal ${id}`,
      'where it is another one all the same, give it a reference of its own',
    )
  return refused(
    `this was booked as journal ${id}, which is reversed by journal ${reversedBy}`,
    'a correction takes a reference of its own: give it a new one',
  )
}

/** What a journal without a reference is known by. */
function digestOf(content: { date: Date; reason: string; transfers: readonly LedgerTransfer[] }): string {
  const text = JSON.stringify(content, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function refused(problem: string, mend: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, mend: `${mend}; nothing was booked` })
}
