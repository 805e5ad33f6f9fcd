import { sql } from 'kysely'
import { faultTable } from '../../src/service/faults/fault-table.ts'
import { type DepositReport, showDeposits } from '../../src/store/books/show-deposits.ts'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { Wish } from './struck-payments.ts'

/** The kinds that were reported of a deposit at any time, and those that are still open. */
export type Reported = { ever: string[]; open: string[]; isReconciled: boolean }

export function expected({ knob, owner }: Pick<Wish, 'knob' | 'owner'>): Reported {
  const fault = knob === null ? null : faultTable[knob]
  if (fault === null || fault.mismatch === null) return { ever: [], open: [], isReconciled: true }
  const ofWallets = owner === 'savings' && 'ofWallets' in fault ? [fault.ofWallets] : []
  const ever = [fault.mismatch, ...ofWallets]
  const isReconciled = fault.ends === 'time' || rightInTheEnd.includes(fault.mismatch)
  return { ever, open: fault.ends === 'time' ? [] : ever, isReconciled }
}

/** Sent or claimed twice, lost, late, misdated or taken back, misnamed or overcharged: the books are right in the end. */
const rightInTheEnd: readonly string[] = [
  'webhook_missing',
  'settlement_unreported',
  'clock_skew',
  'unknown_owner',
  'fee_out_of_band',
  'tx_reused',
  'terminal_reopened',
]

/** Opened because something was late, and cleared when it came: on a busy machine nobody need have made an error. */
export const lateKinds: readonly string[] = [
  'webhook_missing',
  'api_missing',
  'conversion_open',
  'chain_missing',
  'unreported',
  'settlement_missing',
  // Until the word comes that names the other part.
  'settlement_short',
]

/** What was reported of a payment, but for what was late and is not to be told of it. */
export async function reported(
  db: Database<Tables>,
  { tx, ...wish }: Wish & { tx: string },
): Promise<Reported> {
  const [shown, ...more] = await showDeposits(db, tx)
  if (shown === undefined) return { ever: [], open: [], isReconciled: false }
  const ofAll = [shown, ...more].flatMap(({ mismatches }) => mismatches)
  const all = [...ofAll, ...(await secondForwards(db, shown))]
  // Whether the record was read before it was gone is a matter of chance.
  const mismatches = all.filter(
    ({ kind, cleared_at: at }) =>
      kind !== faultTable.removeRecordRate.ifRead &&
      (at === null || !lateKinds.includes(kind) || expected(wish).ever.includes(kind)),
  )
  return {
    ever: kindsOf(mismatches),
    open: kindsOf(mismatches.filter(({ cleared_at: at }) => at === null)),
    isReconciled: shown.deposit.state === 'reconciled',
  }
}

/** The deposit that has this payment. */
export async function shownOf(db: Database<Tables>, tx: string): Promise<DepositReport | null> {
  return (await showDeposits(db, tx))[0] ?? null
}

/** A forward that no record explains belongs to no deposit; no two deposits are forwarded with the same amount. */
async function secondForwards(db: Database<Tables>, { deposit }: DepositReport) {
  const { rows } = await sql<{ kind: string; cleared_at: Date | null }>`
    select kind, cleared_at from mismatch
    where deposit_id is null and network = ${deposit.settlement_network}
      and value::text = ${String(deposit.settlement_amount_base)}`.execute(db)
  return rows
}

function kindsOf(mismatches: readonly { kind: string }[]): string[] {
  return [...new Set(mismatches.map(({ kind }) => kind))].toSorted()
}

/** Null until exactly what is expected of each is told. */
export async function allAsExpected(
  db: Database<Tables>,
  payments: readonly (Wish & { tx: string })[],
): Promise<true | null> {
  for (const payment of payments) {
    if (JSON.stringify(await reported(db, payment)) !== JSON.stringify(expected(payment))) return null
  }
  return true
}

export async function isGoodInTheEnd(db: Database<Tables>, tx: string): Promise<boolean> {
  const shown = await shownOf(db, tx)
  return shown?.deposit.state === 'reconciled' && shown.mismatches.every(({ cleared_at: at }) => at !== null)
}

/** Transfers to the recipient that webhooks of these payments named, as the chain has them. */
export async function namedForwards(
  db: Database<Tables>,
  payments: readonly { tx: string }[],
): Promise<{ tx: string; amount: bigint }[]> {
  const txs = payments.map(({ tx }) => tx)
  const { rows } = await sql<{ tx: string; amount: bigint }>`
    select distinct sighted.observation ->> 'tx' as tx, sighted.observation ->> 'index' as index,
      (sighted.observation ->> 'amount')::numeric as amount
    from evidence claimed join inbox on inbox.id = claimed.inbox_id and inbox.source = 'webhook'
      join evidence sighted on sighted.observation ->> 'tx' = claimed.observation -> 'settlement' ->> 'tx'
        and sighted.observation ->> 'role' = 'recipient'
    where claimed.observation -> 'deposit' ->> 'tx' = any(${txs})`.execute(db)
  return rows.map(({ tx, amount }) => ({ tx, amount: BigInt(amount) }))
}

/** What was delivered of the deposit that this transaction paid, in base units. */
export async function deliveredOf(db: Database<Tables>, tx: string): Promise<bigint> {
  return BigInt(String((await shownOf(db, tx))?.deposit.settlement_amount_base))
}
