import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import {
  type BookedJournal,
  type ByHand,
  bookByHand,
  readJournal,
  reversalPeriod,
} from '../../store/ledger/journals.ts'
import type { Tables } from '../../store/tables.ts'
import { found, type JournalPreview, refused, refuseReason } from './book-by-hand.ts'

/**
 * The reversal has the date of the original; if that month is closed, it enters the books of the next open month. That of an
 * opening needs `holdingDecisions`: what happened before the opening is to be booked again.
 * @throws Fault `usage_bad`
 */
export async function bookReversal(
  tx: Transaction<Tables>,
  id: bigint,
  byHand: ByHand,
): Promise<BookedJournal> {
  const { key, ...content } = reversalOf(await reversible(tx, id))
  const reverses = key.slice(reversalPrefix.length)
  const journal = { key, kind: 'reversal', reverses, ...content } as const
  return found(tx, await bookByHand(tx, journal, byHand))
}

/** @throws Fault `usage_bad` if the reversal would be refused */
export async function checkReversal(
  db: Kysely<Tables>,
  id: bigint,
  { reason }: Pick<ByHand, 'reason'>,
): Promise<JournalPreview> {
  refuseReason(reason)
  const original = await reversible(db, id)
  return { ...reversalOf(original), period: await reversalPeriod(db, original) }
}

async function reversible(db: Kysely<Tables>, id: bigint): Promise<BookedJournal> {
  const original = await readJournal(db, id)
  if (original === null)
    throw new Fault('not_found', {
      problem: `there is no journal ${id}`,
      fix: 'use a number from "bin/depositd ledger journal list"; nothing was booked',
    })
  refuseReversal(original)
  return original
}

const reversalPrefix = 'reversal/'

function reversalOf({ key, eventAt, transfers, depositId }: BookedJournal): Omit<JournalPreview, 'period'> {
  const back = transfers.map(({ debit, credit, ...rest }) => ({ debit: credit, credit: debit, ...rest }))
  return { key: `${reversalPrefix}${key}`, eventAt, transfers: back, depositId }
}

function refuseReversal({ id, kind, reversedBy }: BookedJournal): void {
  if (kind === 'reversal')
    throw refused(
      `journal ${id} is a reversal and cannot be reversed`,
      'add the correct booking as a new journal',
    )
  if (kind !== 'manual' && kind !== 'opening')
    throw refused(
      `journal ${id} follows from evidence and is reversed only when the evidence changes`,
      'decide about the deposit: "bin/depositd deposits match" and "split", "bin/depositd mismatches write-off"',
    )
  if (reversedBy !== null)
    throw refused(
      `journal ${id} was already reversed by journal ${reversedBy}`,
      'add the correct booking as a new journal',
    )
}
