import { type SnapshotGap, snapshotGaps } from '../../store/ledger/snapshot-gaps.ts'
import { type SnapshotFault, snapshotDays, snapshotFaults } from '../../store/ledger/snapshots.ts'
import type { LedgerCheck } from './ledger-checks.ts'

const daysMax = 366
/** Per day. */
const faultsMax = 100

/**
 * Checks that every day since the first has a snapshot, and that every stored sum of a day or month equals the sum of
 * its transfers.
 */
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
    before_first: `recorded ${span}: not added up, though journals begin there`,
    between: `recorded ${span}: not added up, though the days around are`,
    sums_of_day: `recorded ${first}: there are sums of that day, which was not added up`,
    sums_of_month: `recorded ${first.slice(0, 7)}: there are sums of that month, whose last day was not added up`,
  }[what]
}

/** One line: the stored sum and the expected sum. */
export function findingOf(day: string, { span, event, account, asset, kept, found }: SnapshotFault): string {
  const recorded = span === 'day' ? day : day.slice(0, 7)
  const happened = span === 'day' ? event : event.slice(0, 7)
  return `recorded ${recorded}, of ${happened}, ${account} ${asset}: kept ${sides(kept)}, made anew ${sides(found)}`
}

function sides(sums: string[] | null): string {
  return sums === null ? 'nothing' : `debit ${sums[0]} credit ${sums[1]}`
}
