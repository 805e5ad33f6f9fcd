import { countControlled, findImbalances, type Imbalance } from '../../store/books/books-audit.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { checkFrozenBalances } from './check-frozen-balances.ts'
import { checkSnapshots } from './check-snapshots.ts'

/** The check that the audit reports as `ledger_imbalance`, run on demand. */
const controlTotals: LedgerCheck = {
  name: 'control totals',
  async run(db) {
    const imbalances = await findImbalances(db)
    return { findings: imbalances.flatMap(findingsOf), counted: await countControlled(db) }
  },
}

function findingsOf({ asset, sum, left, deposits, deposit, ...tie }: Imbalance): string[] {
  const findings = [
    sum !== 0n && `debits less credits are ${sum}, not 0: sums of days that are over are not what was booked`,
    deposit !== null && `${left} are in transit of closed deposits: of ${deposits}, such as ${deposit}`,
    tie.untied !== 0n && tieFinding(tie),
  ]
  return findings.filter((one) => one !== false).map((finding) => `${asset}, in smallest units: ${finding}`)
}

function tieFinding({
  untied,
  addresses,
  address,
}: Pick<Imbalance, 'untied' | 'addresses' | 'address'>): string {
  return address === null
    ? `${untied} are booked of payments that were never seen`
    : `books and balances of ${addresses} addresses differ by ${untied}, such as of ${address}`
}

/** Result of a check: one line per problem, and how much was checked. */
export type LedgerOutcome = { findings: string[]; counted: Record<string, number> }

/** An invariant of the books. A check runs in constant memory and writes nothing. */
export type LedgerCheck = {
  /** A noun such as `seals`; `ledger verify` prints it. */
  name: string
  /** A long check reports its progress in lines. */
  run: (db: Database<Tables>, report: (line: string) => void) => Promise<LedgerOutcome>
}

/** All checks of `ledger verify`, in this order. */
export const ledgerChecks: readonly LedgerCheck[] = [checkFrozenBalances, controlTotals, checkSnapshots]
