import { type FrozenBalanceLine, hashBalance } from '../../ledger/period.ts'
import { countControlled, findImbalances, type Imbalance } from '../../store/books/books-audit.ts'
import type { Database } from '../../store/database.ts'
import {
  type SnapshotFault,
  type SnapshotGap,
  snapshotDays,
  snapshotFaults,
  snapshotGaps,
} from '../../store/ledger/maintenance.ts'
import {
  closingsOf,
  type FrozenBesideMade,
  findIntruders,
  frozenBesideMade,
  type PeriodClose,
} from '../../store/ledger/periods.ts'
import type { Tables } from '../../store/tables.ts'

export type LedgerOutcome = { findings: string[]; counted: Record<string, number> }

/** Writes nothing. Runs in constant memory, but that of values holds all lots. */
export type LedgerCheck = {
  /** `ledger verify` prints it. */
  name: string
  run: (db: Database<Tables>, report: (line: string) => void) => Promise<LedgerOutcome>
}

/** The audit reports it as `ledger_imbalance`. */
export const checkControlTotals: LedgerCheck = {
  name: 'control totals',
  async run(db) {
    const imbalances = await findImbalances(db)
    return { findings: imbalances.flatMap(imbalanceFindings), counted: await countControlled(db) }
  },
}

function imbalanceFindings({ asset, sum, left, deposits, deposit, ...tie }: Imbalance): string[] {
  const findings = [
    sum !== 0n &&
      `debits minus credits are ${sum} instead of 0: sums of completed days differ from the journals`,
    deposit !== null &&
      `closed deposits still have ${left} in transit: ${deposits} deposits, for example ${deposit}`,
    tie.untied !== 0n && tieFinding(tie),
  ]
  return findings.filter((one) => one !== false).map((finding) => `${asset}, in base units: ${finding}`)
}

function tieFinding({
  untied,
  addresses,
  address,
}: Pick<Imbalance, 'untied' | 'addresses' | 'address'>): string {
  return address === null
    ? `${untied} are booked for payments that were never seen`
    : `books and balances of ${addresses} addresses differ by ${untied}, for example at ${address}`
}

/** Accounts named per close. */
const namedMax = 3

/**
 * The balance equals the sum of the journals at the close, has the recorded SHA-256, and no journal entered the closed
 * month since.
 */
export const checkFrozenBalances: LedgerCheck = {
  name: 'closed months',
  run: (db, report) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const closings = await closingsOf(tx)
        const checked = new Map(closings.map((closing) => [closing.id, startOf(closing)]))
        if (closings.length > 0) report(`closed months: summing the books of ${closings.length} closes`)
        let lines = 0
        for await (const rows of frozenBesideMade(tx)) {
          for (const row of rows) compare(checked.get(row.closingId), row)
          lines += rows.length
        }
        const intruders = await findIntruders(tx)
        const findings = [...checked.values()].flatMap(findingsOfClose)
        for (const { period, journals, first } of intruders)
          findings.push(
            `${period} is closed, but ${journals} journals were booked into it afterwards; the first is journal ${first}`,
          )
        return { findings, counted: { closes: closings.length, lines } }
      }),
}

type FrozenBalanceCheck = {
  closing: PeriodClose
  frozen: ReturnType<typeof hashBalance>
  made: ReturnType<typeof hashBalance>
  differing: string[]
  count: number
}

function startOf(closing: PeriodClose): FrozenBalanceCheck {
  const { period } = closing
  return { closing, frozen: hashBalance(period), made: hashBalance(period), differing: [], count: 0 }
}

function compare(
  checked: FrozenBalanceCheck | undefined,
  { frozen, made, account, asset }: FrozenBesideMade,
): void {
  if (checked === undefined) return
  if (frozen !== null) checked.frozen.add({ account, asset, ...frozen })
  if (made !== null) checked.made.add({ account, asset, ...made })
  const [is, shouldBe] = [sidesOf(frozen), sidesOf(made)]
  if (is === shouldBe) return
  checked.count++
  if (checked.count <= namedMax)
    checked.differing.push(
      `${account} in ${asset}: the frozen balance is ${is}, the journals give ${shouldBe}`,
    )
}

function sidesOf(sides: Pick<FrozenBalanceLine, 'debit' | 'credit'> | null): string {
  return sides === null ? 'nothing' : `debit ${sides.debit}, credit ${sides.credit}`
}

function findingsOfClose({ closing, frozen, made, differing, count }: FrozenBalanceCheck): string[] {
  const { period, at, sha256 } = closing
  const name = `${period}, closed at ${at.toISOString()}`
  const others = count > differing.length ? [`${name}: ${count - differing.length} more accounts differ`] : []
  const isFrozen = frozen.digest() === sha256
  const isMade = made.digest() === sha256
  return [
    ...differing.map((text) => `${name}: ${text}`),
    ...others,
    ...(isFrozen ? [] : [`${name}: the frozen balances do not have the SHA-256 ${sha256}`]),
    ...(isMade ? [] : [`${name}: the sums of the journals do not have the SHA-256 ${sha256}`]),
  ]
}

const daysMax = 366
/** Per day. */
const faultsMax = 100

/** Every day since the first has a snapshot, and every stored sum equals that of its transfers. */
export const checkSnapshots: LedgerCheck = {
  name: 'snapshots',
  async run(db, report) {
    const findings = (await snapshotGaps(db, faultsMax)).map(lineOfGap)
    let days = 0
    let after = '-infinity'
    for (;;) {
      const some = await snapshotDays(db, after, daysMax)
      const last = some.at(-1)
      if (last === undefined) return { findings, counted: { days } }
      for (const day of some) {
        const faults = await snapshotFaults(db, day, faultsMax)
        findings.push(...faults.map((fault) => findingOf(day, fault)))
      }
      after = last
      days += some.length
      report(`snapshots: ${days} days up to ${last}`)
    }
  },
}

function lineOfGap({ what, first, last }: SnapshotGap): string {
  const span = first === last ? first : `${first} to ${last}`
  return {
    before_first: `recorded ${span}: no snapshot, although the journals begin there`,
    between: `recorded ${span}: no snapshot, although the days before and after have one`,
    sums_of_day: `recorded ${first}: the day has sums but no snapshot`,
    sums_of_month: `recorded ${first.slice(0, 7)}: the month has sums, but its last day has no snapshot`,
  }[what]
}

export function findingOf(day: string, { span, event, account, asset, kept, found }: SnapshotFault): string {
  const recorded = span === 'day' ? day : day.slice(0, 7)
  const happened = span === 'day' ? event : event.slice(0, 7)
  return `recorded ${recorded}, of ${happened}, ${account} ${asset}: stored ${pairText(kept)}, recomputed ${pairText(found)}`
}

function pairText(pair: string[] | null): string {
  return pair === null ? 'nothing' : `debit ${pair[0]} credit ${pair[1]}`
}
