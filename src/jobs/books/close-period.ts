import type { Transaction } from 'kysely'
import { gainAccounts } from '../../core/chart.ts'
import { assert } from '../../core/errors.ts'
import { formatMinor, roundHalfEven } from '../../core/value.ts'
import {
  addUp,
  type FrozenBalanceLine,
  hashBalance,
  lastMoment,
  nextPeriod,
  type Period,
} from '../../ledger/period.ts'
import type { ValuedLine } from '../../ledger/valued-journal.ts'
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
import { type AppliedPrice, pricesAt } from '../../store/ledger/prices.ts'
import {
  type CarriedSum,
  lastJournalIn,
  lastValuation,
  type PricedLine,
  priceGaps,
  readValued,
  saveValued,
  sumValues,
} from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'
import {
  type FunctionalCurrency,
  gapsMax,
  minorPrice,
  refusalOf,
  valueBatch,
  valueBooks,
} from './value-books.ts'

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
 * A final close freezes the trial balance and revalues it in the functional currency; bookings are blocked meanwhile, so
 * most of it is summed here, beforehand.
 * @throws Fault `usage_bad` if the period rules refuse the change, or a price is missing; `remote_failed` if open writes do not finish
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

/** Unrealised gains of a month, in the functional currency: `-12.50` is a loss. */
type Revaluation = { currency: string; gain: string }

/** The carried values of a month, summed before writers have to wait. */
type MonthValues = { rule: FunctionalCurrency; period: Period; upTo: bigint; sums: CarriedSum[] }

/**
 * Values the journals of a month and of those before it.
 * @returns null if the settings name no currency
 * @throws Fault `usage_bad` if a price is missing, at the end of the month too
 */
export async function prepareRevaluation(db: Database<Tables>, period: Period): Promise<MonthValues | null> {
  const rule = (await valueBooks(db))?.rule
  if (rule === undefined) return null
  await refuseUnvalued(db, rule, period)
  const upTo = await lastValuation(db)
  const sums = await sumValues(db, { period, after: 0n, upTo })
  const values = { rule, period, upTo, sums }
  linesOf(values, sums, await pricesAt(db, lastMoment(period)))
  return values
}

/**
 * Brings assets and debts of the month to their market value at its end, and back in the next month, so that they keep
 * what they are carried at. A month that was reopened has its earlier revaluations too, so this adds only the rest.
 * @param closeId the close, in the same transaction
 */
async function revalueMonth(
  tx: Transaction<Tables>,
  values: MonthValues,
  { closeId, lastJournal }: { closeId: bigint; lastJournal: bigint },
): Promise<Revaluation> {
  const { rule, period, upTo, sums } = values
  while ((await valueBatch(tx, rule, lastJournal)) > 0) continue
  await refuseUnvalued(tx, rule, period)
  const since = await sumValues(tx, { period, after: upTo, upTo: await lastValuation(tx) })
  const lines = linesOf(values, [...sums, ...since], await pricesAt(tx, lastMoment(period)))
  const { currency } = rule
  const next = nextPeriod(period)
  const shared = { journal: null, close: closeId, disposals: [] }
  const revaluation = { ...shared, eventAt: lastMoment(period), period: `${period}-01`, lines }
  const back = {
    ...shared,
    eventAt: `${next}-01T00:00:00Z`,
    period: `${next}-01`,
    lines: lines.map(takenBack),
  }
  if (lines.length > 0)
    await saveValued(
      tx,
      [
        { kind: 'revaluation', ...revaluation },
        { kind: 'revaluation_back', ...back },
      ],
      rule,
    )
  return { currency, gain: formatMinor(-(lines.at(-1)?.value ?? 0n), currency) }
}

/** A journal that has come since is valued in the transaction that closes the month. */
async function refuseUnvalued(
  db: Database<Tables>,
  { currency }: FunctionalCurrency,
  period: Period,
): Promise<void> {
  const [{ lastJournal: after }, upTo] = [await readValued(db), await lastJournalIn(db, period)]
  const gaps = after < upTo ? await priceGaps(db, { after, upTo, limit: gapsMax }) : []
  if (gaps.length > 0) throw refusalOf(gaps, currency)
}

/** The last line has the gain. */
function linesOf(
  { rule: { currency }, period }: MonthValues,
  sums: readonly CarriedSum[],
  prices: ReadonlyMap<string, AppliedPrice>,
): Omit<PricedLine, 'journal'>[] {
  const positions = [...Map.groupBy(sums, ({ account, asset }) => `${account} ${asset}`).values()].map(added)
  const held = positions.filter(({ units }) => units !== 0n)
  const gaps = new Map(held.filter(({ asset }) => !prices.has(asset)).map((one) => [one.asset, one]))
  if (gaps.size > 0)
    throw refusalOf(
      [...gaps.values()].map(({ asset, assetSymbol }) => {
        return { journal: null, asset, assetSymbol, at: new Date(lastMoment(period)) }
      }),
      currency,
    )
  const lines = positions.map(({ account, asset, decimals, units, value }) => {
    const { price = null, price_at: priceAt = null, price_source: source = null } = prices.get(asset) ?? {}
    const { digits, scale } = minorPrice(price, decimals, currency)
    const market = roundHalfEven(units * digits, 10n ** BigInt(scale))
    return { account, asset, units: 0n, value: market - value, price, priceAt, source }
  })
  const changed = lines.filter(({ value }) => value !== 0n)
  const loss = -changed.reduce((sum, { value }) => sum + value, 0n)
  const gain = { account: gainAccounts.unrealised, asset: null, units: 0n, value: loss }
  return changed.length === 0 ? [] : [...changed, { ...gain, price: null, priceAt: null, source: null }]
}

function added(sums: readonly CarriedSum[]): CarriedSum {
  return {
    ...(sums[0] as CarriedSum),
    units: sums.reduce((sum, { units }) => sum + units, 0n),
    value: sums.reduce((sum, { value }) => sum + value, 0n),
  }
}

function takenBack<Line extends ValuedLine>(line: Line): Line {
  return { ...line, value: -line.value }
}
