import { countControlled, findImbalances, type Imbalance } from '../../store/books/books-audit.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { checkFrozenBalances } from './check-frozen-balances.ts'
import { checkSnapshots } from './check-snapshots.ts'

/** What the audit raises as `ledger_imbalance`, found on demand. */
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

/** What a check of the books found wrong, a line for each, and how much it looked at. */
export type LedgerOutcome = { findings: string[]; counted: Record<string, number> }

/** Something that must hold of the books. It reads as much as it has to, in flat memory, and writes nothing. */
export type LedgerCheck = {
  /** As `ledger verify` prints it: a noun, like `seals`. */
  name: string
  /** Tells in a line how far it came, where it takes long. */
  run: (db: Database<Tables>, tell: (line: string) => void) => Promise<LedgerOutcome>
}

/** All that `ledger verify` runs, in this order. */
export const ledgerChecks: readonly LedgerCheck[] = [checkFrozenBalances, controlTotals, checkSnapshots]
