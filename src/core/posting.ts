import { type BookingTarget, type LedgerTransfer, mirrored } from './booking-targets.ts'
import type { TransferRef } from './evidence.ts'

export type DepositJournalKind = BookingTarget['kind'] | 'reversal'

/** Its key is unique in the ledger, so that nothing is booked twice. */
export type Journal = {
  key: string
  kind: DepositJournalKind
  transfer: TransferRef
  /** Null for the deposit that is being decided, and for a withdrawal. */
  depositId: bigint | null
  reverses: string | null
  eventAt: Date
  transfers: readonly LedgerTransfer[]
}

/** What happened up to the opening is part of its balances. */
export function sinceOpening(targets: readonly BookingTarget[], openedAt: Date | null): BookingTarget[] {
  return targets.filter(({ eventAt }) => openedAt === null || eventAt > openedAt)
}

/**
 * The journals still to be written so that the books match what the verdict proves. A journal that is not proved as
 * booked is reversed, never edited. Calling it again after booking returns none.
 * @param depositId of another deposit, a journal is reversed
 */
export function journalsFor(
  targets: readonly BookingTarget[],
  booked: readonly Journal[],
  depositId: bigint | null,
): Journal[] {
  const active = standingJournals(booked)
  const own = active.filter((journal) => journal.depositId === null || journal.depositId === depositId)
  const matching = own.filter((journal) => targets.some((target) => isBooked(target, journal)))
  const missing = targets.filter((target) => !matching.some((journal) => isBooked(target, journal)))
  return [
    ...active.filter((journal) => !matching.includes(journal)).map(reversal),
    ...missing.map((target) => ({
      ...target,
      key: nextKey(target, booked),
      depositId: null,
      reverses: null,
    })),
  ]
}

/** Neither reversals nor reversed. */
export function standingJournals(journals: readonly Journal[]): Journal[] {
  const reversed = new Set(journals.map(({ reverses }) => reverses))
  return journals.filter(({ kind, key }) => kind !== 'reversal' && !reversed.has(key))
}

/** A reversal belongs to the original's deposit, so that each deposit's amount in transit adds up. */
function reversal(journal: Journal): Journal {
  const { key } = journal
  const transfers = mirrored(journal.transfers)
  return { ...journal, key: `reversal/${key}`, kind: 'reversal', reverses: key, transfers }
}

function isBooked(target: BookingTarget, journal: Journal): boolean {
  const isThen = target.eventAt.getTime() === journal.eventAt.getTime()
  return isThen && isSame(target, journal) && textOf(target.transfers) === textOf(journal.transfers)
}

/** The number distinguishes the bookings of a target that was reversed and booked again. */
function nextKey(target: BookingTarget, booked: readonly Journal[]): string {
  const times = booked.filter((journal) => isSame(target, journal)).length
  return `${target.kind}/${target.transfer}#${times + 1}`
}

function isSame(target: BookingTarget, journal: Journal): boolean {
  return journal.kind === target.kind && journal.transfer === target.transfer
}

function textOf(transfers: readonly LedgerTransfer[]): string {
  return transfers
    .map(({ debit, credit, asset, amount }) => `${debit} ${credit} ${asset} ${amount}`)
    .join('\n')
}
