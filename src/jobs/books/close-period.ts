import type { Transaction } from 'kysely'
import { assert } from '../../core/errors.ts'
import { addUp, type FrozenBalanceLine, hashBalance, type Period } from '../../ledger/period.ts'
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

type Change = Pick<PeriodChange, 'period' | 'action' | 'forced'>

export type PreparedPeriodChange = {
  /** SHA-256 of the trial balance that would be frozen; null unless the close is final. Bookings wait until the transaction ends. */
  balance: (tx: Transaction<Tables>) => Promise<string | null>
  change: (tx: Transaction<Tables>, who: Omit<PeriodChange, keyof Change>) => Promise<PeriodChangeResult>
}

/**
 * Closes a month (soft or final), or reopens it.
 * @throws Fault `usage_bad` if the period rules refuse the change, or a price is missing; `remote_failed` if open writes do not finish
 */
export async function changePeriod(
  db: Database<Tables>,
  { period, action, forced, ...who }: PeriodChange,
): Promise<PeriodChangeResult> {
  const { change } = await preparePeriodChange(db, { period, action, forced })
  return patiently(closing, () => inTransaction(db, (tx) => change(tx, who)))
}

/**
 * A final close freezes the trial balance and revalues it in the functional currency; bookings are blocked meanwhile, so
 * most of it is summed here, beforehand.
 * @throws as `changePeriod`
 */
export async function preparePeriodChange(
  db: Database<Tables>,
  wanted: Change,
): Promise<PreparedPeriodChange> {
  await refusePeriodChange(db, wanted)
  const { period } = wanted
  const elsewhere = await severeElsewhere(db, period)
  if (wanted.action !== 'closed')
    return {
      balance: async () => null,
      change: async (tx, who) => {
        const event = await recordPeriodChange(tx, { ...wanted, ...who }, null)
        return { ...event, sha256: null, lines: 0, severeElsewhere: elsewhere, revaluation: null }
      },
    }
  const values = await prepareRevaluation(db, period)
  const { lastJournal: settled } = await patiently(closing, () => inTransaction(db, cutLedger))
  const before = await sumJournals(db, { period, after: 0n, upTo: settled })
  const frozen = async (tx: Transaction<Tables>) => {
    const { lastJournal: last } = await cutLedger(tx)
    const lines = addUp([...before, ...(await sumJournals(tx, { period, after: settled, upTo: last }))])
    return { last, lines, sha256: digestOf(period, lines) }
  }
  return {
    balance: async (tx) => (await frozen(tx)).sha256,
    async change(tx, who) {
      const { last, lines, sha256 } = await frozen(tx)
      const event = await recordPeriodChange(tx, { ...wanted, ...who }, sha256)
      assert(event.lastJournal === last, 'nothing is booked while a month is closed')
      await freezeBalance(tx, event.id, lines)
      const revaluation = values && (await revalueMonth(tx, values, { closeId: event.id, lastJournal: last }))
      return { ...event, sha256, lines: lines.length, severeElsewhere: elsewhere, revaluation }
    },
  }
}

function digestOf(period: Period, lines: readonly FrozenBalanceLine[]): string {
  const hash = hashBalance(period)
  for (const line of lines) hash.add(line)
  return hash.digest()
}
