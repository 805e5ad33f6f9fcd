import { sql } from 'kysely'
import { assert } from '../../core/errors.ts'
import { inTransaction } from '../../store/database.ts'
import type { DepositBook, DepositChange } from '../deposits/deposits.ts'
import type { Terms } from '../deposits/quote.ts'
import type { ServiceDepositRow } from '../tables.ts'
import type { Faults } from './faults.ts'

const batchMax = 200
const pageMax = 1000

/**
 * After the delay, settled deposits are reported as forwarding, until the fault no longer affects them. Nothing is
 * sent.
 * @returns how many statuses changed
 */
export async function reopenDeposits({
  db,
  deposits,
  faults,
}: DepositBook & { faults: Faults }): Promise<number> {
  const due = await dueDeposits(db, faults)
  if (due.length === 0) return 0
  const [settled, reopened] = [
    due.filter(({ status }) => status === 'settled'),
    due.filter(({ status }) => status !== 'settled'),
  ]
  return inTransaction(db, async (tx) => {
    const again = await deposits.change(
      tx,
      ['settled'],
      settled.map(({ id }) => ({ id, status: 'forwarding' })),
    )
    const ended = await deposits.change(
      tx,
      ['forwarding'],
      reopened.map(({ id }) => ({ id, status: 'settled' })),
    )
    return again.length + ended.length
  })
}

/** Reads page by page, because most settled deposits are not affected. */
async function dueDeposits(db: DepositBook['db'], faults: Faults): Promise<ServiceDepositRow[]> {
  const { reopenRate, delayMs } = faults.current()
  const isDue = (row: ServiceDepositRow) => faults.strikes('reopenRate', row) === (row.status === 'settled')
  const due: ServiceDepositRow[] = []
  for (let after = 0n; due.length < batchMax; ) {
    const { rows } = await sql<ServiceDepositRow>`
      select * from service.deposit
      where sequence > ${after} and ((status = 'forwarding' and to_at is not null)
        or (${reopenRate > 0} and status = 'settled'
          and updated_at < clock_timestamp() - make_interval(secs => ${delayMs / 1000})))
      order by sequence limit ${pageMax}`.execute(db)
    due.push(...rows.filter(isDue))
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageMax) break
    after = last.sequence
  }
  return due.slice(0, batchMax)
}

export type ForwardGroup = readonly [ServiceDepositRow, ...ServiceDepositRow[]]

/** If `isReported`, the deposit names the extra transaction. */
type Payout = { amount: bigint; beside: readonly { amount: bigint; isReported: boolean }[] }

/**
 * Each deposit has its own forward, unless a fault joins several to one recipient. A deposit to be joined waits at most
 * for the delay.
 */
export function joinForwards(
  faults: Faults,
  deposits: readonly ServiceDepositRow[],
  nowMs: number,
): ForwardGroup[] {
  const isJoined = (deposit: ServiceDepositRow): boolean =>
    deposit.status === 'converting' && faults.strikes('joinForwardRate', deposit)
  const groups = Map.groupBy(deposits, (deposit) =>
    isJoined(deposit) ? `${deposit.to_address}/${deposit.to_contract}` : deposit.id,
  )
  return [...groups.values()].flatMap(([first, ...others]): ForwardGroup[] => {
    if (first === undefined) return []
    const isWaiting =
      isJoined(first) && others.length === 0 && first.updated_at.getTime() + faults.current().delayMs > nowMs
    return isWaiting ? [] : [[first, ...others]]
  })
}

/** Extra transfers are paid with the first attempt of the forward. */
export function payoutOf(faults: Faults, deposit: ServiceDepositRow): Payout {
  const quoted = quotedOf(deposit)
  const isFirst = deposit.status === 'converting'
  const part = faults.strikes('splitForwardRate', deposit) ? quoted / 2n : 0n
  const isShort = faults.strikes('shortForwardRate', deposit)
  const amount = isShort ? shortened(quoted - part) : quoted - part
  const isDoubled = isFirst && faults.strikes('doubleForwardRate', deposit)
  if (isFirst && part > 0n) return { amount, beside: [{ amount: part, isReported: true }] }
  return { amount, beside: isDoubled ? [{ amount, isReported: false }] : [] }
}

export function quotedOf({ to_amount: amount }: ServiceDepositRow): bigint {
  assert(amount !== null, 'a deposit that is forwarded has a quote')
  return BigInt(amount)
}

/** Less by a tenth, at least by one base unit. */
function shortened(amount: bigint): bigint {
  const tenth = amount / 10n
  const less = amount - (tenth > 0n ? tenth : 1n)
  return less > 0n ? less : amount
}

/** A fault doubles the fee. */
export function termsOf(faults: Faults, deposit: ServiceDepositRow, terms: Terms): Terms {
  const times = faults.strikes('overchargeRate', deposit) ? 2 : 1
  return { ...terms, feeBasisPoints: Math.min(terms.feeBasisPoints * times, wholeBasisPoints) }
}

const wholeBasisPoints = 10_000

/** Nothing is refunded. */
export function withhold(
  faults: Faults,
  deposit: ServiceDepositRow,
  change: DepositChange | null,
): DepositChange | null {
  const isDelivered = change?.status === 'converting' || change?.status === 'credited'
  if (!isDelivered || !faults.strikes('withholdRefundRate', deposit)) return change
  return { id: deposit.id, status: 'failed', reason: 'too_small' }
}
