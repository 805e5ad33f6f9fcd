import { createHash } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { LedgerTransfer } from '../../core/booking-targets.ts'
import { Fault } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { breaksGuard, guardedChanges } from '../../ledger/account-guards.ts'
import { type DraftLine, draftTransfers, isReason } from '../../ledger/draft-journal.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import { findDeposits } from '../../store/books/show-deposits.ts'
import { lockBalances, openedAccounts } from '../../store/ledger/accounts.ts'
import {
  adjustmentPeriod,
  type BookedJournal,
  type ByHand,
  bookByHand,
  idOfKey,
  readJournal,
  readOpenedAt,
} from '../../store/ledger/journals.ts'
import { appendEvents, depositOfCase } from '../../store/mismatches/cases.ts'
import type { Tables } from '../../store/tables.ts'

export type WrittenJournal = {
  date: Date
  reason: string
  reference?: string | undefined
  /** Our number, or the service's id. */
  deposit?: string | undefined
  mismatch?: number | undefined
  lines: readonly DraftLine[]
}

export type ManualJournalDeps = {
  db: Kysely<Tables>
  accountPatterns: readonly string[]
  /** Accounts that it must not bring to the other side. */
  guards: readonly string[]
  now: Date
}

/** `period`: the month whose books it would enter. */
export type JournalPreview = Pick<BookedJournal, 'key' | 'eventAt' | 'period' | 'transfers' | 'depositId'>

/**
 * An identical journal, or one with the same reference, is booked once.
 * @throws Fault `usage_bad` that lists every problem of the journal
 */
export async function bookJournal(
  deps: Omit<ManualJournalDeps, 'db'> & { db: Transaction<Tables> },
  written: WrittenJournal,
  people: Omit<ByHand, 'reason'>,
): Promise<BookedJournal> {
  refuseOnePerson(people)
  refuseReason(written.reason)
  const { key, transfers, period, depositId } = await checkJournal(deps, written)
  const journal = {
    key,
    kind: 'manual',
    reverses: null,
    eventAt: written.date,
    transfers,
    depositId,
  } as const
  const booked = await found(
    deps.db,
    await bookByHand(deps.db, journal, { ...people, reason: written.reason }),
  )
  if (written.mismatch !== undefined) await noteInCase(deps.db, BigInt(written.mismatch), booked)
  // The month was closed since the check. The retry refuses.
  if (booked.period !== period) throw new Fault('conflict', { what: 'booking by hand' })
  return booked
}

/** @throws Fault `usage_bad` if the journal would be refused */
export async function checkJournal(
  { db, accountPatterns, guards, now }: ManualJournalDeps,
  { date, reason, reference, lines, ...about }: WrittenJournal,
): Promise<JournalPreview> {
  if (date > now) throw refused(`${date.toISOString()} is in the future`, 'use the date on which it happened')
  const named = lines.flatMap(({ debit, credit }) => [debit, credit].filter((one) => one !== undefined))
  refuseTransit(named)
  const opened = await openedAccounts(db, named)
  const books = {
    assets: await readAssetNames(db),
    // A pattern is not an account, even if an account of that name has bookings.
    isKnown: (account: string) =>
      !account.includes('*') && (opened.has(account) || accountPatterns.includes(account)),
  }
  const { transfers, faults } = draftTransfers(lines, books)
  if (faults.length > 0) throw refused(faults.join('; '), 'correct it')
  const depositId = await namedDeposit(db, about)
  const key = `manual/${reference ?? digestOf({ date, reason, transfers, ...(depositId !== null && { depositId }) })}`
  const before = await idOfKey(db, key)
  if (before !== null) throw bookedBefore(before, await readJournal(db, before))
  await refuseGuarded(db, transfers, { guards, assets: books.assets })
  const openedAt = await readOpenedAt(db)
  if (openedAt !== null && date <= openedAt)
    throw refused(
      `the books begin with the opening balances of ${openedAt.toISOString()}`,
      'use a later date: what happened up to then is part of these',
    )
  const { period, belongsTo } = await adjustmentPeriod(db, date)
  if (period !== belongsTo)
    throw refused(
      `${belongsTo.slice(0, 7)} is closed`,
      `use a date in an open month (the first is ${period.slice(0, 7)}), or reopen ${belongsTo.slice(0, 7)}`,
    )
  return { key, eventAt: date, period, transfers, depositId }
}

async function namedDeposit(
  db: Kysely<Tables>,
  { deposit, mismatch }: Pick<WrittenJournal, 'deposit' | 'mismatch'>,
): Promise<bigint | null> {
  const [named, about] = await Promise.all([
    deposit === undefined ? null : onlyDeposit(db, deposit),
    mismatch === undefined ? null : depositOfCase(db, BigInt(mismatch)),
  ])
  if (about === undefined) throw refused(`there is no mismatch ${mismatch}`, 'correct it')
  if (named !== null && mismatch !== undefined && about !== named)
    throw refused(`mismatch ${mismatch} is not about deposit ${deposit}`, 'name one of them')
  return named ?? about
}

async function onlyDeposit(db: Kysely<Tables>, reference: string): Promise<bigint> {
  const [one, second] = await findDeposits(db, reference)
  if (one === undefined) throw refused(`there is no deposit ${reference}`, 'correct it')
  if (second !== undefined) throw refused(`several deposits are ${reference}`, 'name one by its number')
  return one.id
}

async function noteInCase(
  tx: Transaction<Tables>,
  mismatchId: bigint,
  journal: BookedJournal,
): Promise<void> {
  const { id, byHand } = journal
  const text = `journal ${id}: ${byHand?.reason ?? ''}`
  const { by: actor = '', approvedBy = null, decision = null } = byHand ?? {}
  const event = { mismatchId, action: 'commented', text, before: null, after: null } as const
  await appendEvents(tx, [{ ...event, actor, approvedBy, decision }])
}

async function refuseGuarded(
  db: Kysely<Tables>,
  transfers: readonly LedgerTransfer[],
  { guards, assets }: { guards: readonly string[]; assets: AssetNames },
): Promise<void> {
  const changes = guardedChanges(transfers, guards)
  if (changes.length === 0) return
  const held = await lockBalances(
    db,
    changes.map(({ account }) => account),
  )
  for (const change of changes) {
    const { account, asset, amount } = change
    const row = held.find((one) => one.account === account && one.asset === asset)
    const before = BigInt(row?.balance_base ?? 0)
    if (!breaksGuard(change, before)) continue
    const { symbol, network, decimals } = assets.get(asset) ?? { symbol: asset, network: '', decimals: 0 }
    const after = before + amount
    const [side, size] = after > 0n ? ['debit', after] : (['credit', -after] as const)
    throw refused(
      `${account} would have a ${side} balance of ${formatAmount(size, decimals)} ${symbol} on ${network}, which accounts.guards refuses`,
      'correct it',
    )
  }
}

/** They are reconciled with chain balances, so only evidence may book to them. */
function refuseTransit(accounts: readonly string[]): void {
  const account = accounts.find((one) => `${one}:`.startsWith('assets:in_transit:'))
  if (account === undefined) return
  throw refused(
    `${account} cannot be booked by hand: amounts in transit follow from evidence`,
    'write off a stuck amount with "bin/depositd mismatches write-off"',
  )
}

export function refuseReason(reason: string): void {
  if (isReason(reason)) return
  throw refused('the reason must be one line of 1 to 1000 characters', 'shorten the reason')
}

export function refuseOnePerson({ by, approvedBy }: Pick<ByHand, 'by' | 'approvedBy'>): void {
  if (approvedBy.toLowerCase() === by.toLowerCase())
    throw refused(`${approvedBy} cannot approve their own decision`, 'let another person approve it')
}

export async function found(tx: Transaction<Tables>, id: bigint): Promise<BookedJournal> {
  const journal = await readJournal(tx, id)
  if (journal === null) throw new Error(`journal ${id} was booked but cannot be read`)
  return journal
}

function bookedBefore(id: bigint, journal: BookedJournal | null): Fault {
  const reversedBy = journal?.reversedBy ?? null
  if (reversedBy === null)
    return refused(
      `this was already booked as journal ${id}`,
      'if this is another booking, give it its own reference',
    )
  return refused(
    `this was booked as journal ${id}, which was reversed by journal ${reversedBy}`,
    'give the correction a new reference',
  )
}

/** For a journal without a reference. */
function digestOf(content: {
  date: Date
  reason: string
  transfers: readonly LedgerTransfer[]
  depositId?: bigint
}): string {
  const text = JSON.stringify(content, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

export function refused(problem: string, fix: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was booked` })
}
