import type { LedgerTransfer } from '../../core/booking-targets.ts'
import type { DecisionGrounds } from '../../people/decision.ts'
import type { JournalPreview } from '../books/book-by-hand.ts'
import type { DecidedBy } from './decide.ts'

export function journalBook({ key, eventAt, period, depositId, transfers }: JournalPreview): DecidedJournal {
  return {
    key,
    event_at: eventAt.toISOString(),
    period,
    deposit: depositId?.toString() ?? null,
    transfers: transfers.map(({ amount, ...line }) => ({ ...line, amount: amount.toString() })),
  }
}

/** Of a decision that takes two people. */
export function withApprover({ by, approvedBy, decision }: DecidedBy) {
  return { by, approvedBy: approvedBy ?? '', decision }
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
