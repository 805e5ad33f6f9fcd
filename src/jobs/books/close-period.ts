import { assert } from '../../core/errors.ts'
import { addUp, type FrozenBalanceLine, hashBalance } from '../../ledger/period.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { cutLedger, patiently } from '../../store/ledger/maintenance.ts'
import {
  freezeBalance,
  type PeriodChange,
  type PeriodEvent,
  recordPeriodChange,
  refusePeriodChange,
  severeElsewhere,
  sumJournals,
} from '../../store/ledger/periods.ts'
import type { Tables } from '../../store/tables.ts'
import { prepareRevaluation, type Revaluation, revalueMonth } from './revalue-month.ts'

export type PeriodChangeResult = PeriodEvent & {
  sha256: string | null
  lines: number
  severeElsewhere: readonly { kind: string; count: number }[]
  /** Null if the settings name no currency. */
  revaluation: Revaluation | null
}

const closing = 'closing the books'

/**
 * Closes a month (soft or final), or reopens it. A final close freezes the trial balance and revalues it in the
 * functional currency; bookings are blocked meanwhile, so most of it is summed beforehand.
 * @throws Fault `usage_bad` if the period rules refuse the change, or a price is missing; `remote_failed` if open writes do not finish
 */
export async function changePeriod(db: Database<Tables>, change: PeriodChange): Promise<PeriodChangeResult> {
  await refusePeriodChange(db, change)
  const { period } = change
  const elsewhere = await severeElsewhere(db, period)
  if (change.action !== 'closed') {
    const event = await patiently(closing, () =>
      inTransaction(db, (tx) => recordPeriodChange(tx, change, null)),
    )
    return { ...event, sha256: null, lines: 0, severeElsewhere: elsewhere, revaluation: null }
  }
  const values = await prepareRevaluation(db, period)
  const { lastJournal: settled } = await patiently(closing, () => inTransaction(db, cutLedger))
  const before = await sumJournals(db, { period, after: 0n, upTo: settled })
  return patiently(closing, () =>
    inTransaction(db, async (tx) => {
      const { lastJournal: last } = await cutLedger(tx)
      const since = await sumJournals(tx, { period, after: settled, upTo: last })
      const lines = addUp([...before, ...since])
      const sha256 = digestOf(change, lines)
      const event = await recordPeriodChange(tx, change, sha256)
      assert(event.lastJournal === last, 'nothing is booked while a month is closed')
      await freezeBalance(tx, event.id, lines)
      const revaluation = values && (await revalueMonth(tx, values, { closeId: event.id, lastJournal: last }))
      return { ...event, sha256, lines: lines.length, severeElsewhere: elsewhere, revaluation }
    }),
  )
}

function digestOf({ period }: PeriodChange, lines: readonly FrozenBalanceLine[]): string {
  const hash = hashBalance(period)
  for (const line of lines) hash.add(line)
  return hash.digest()
}
