import { countControlled, findImbalances, type Imbalance } from '../../store/books/books-audit.ts'
import type { LedgerCheck } from './ledger-checks.ts'

/** What the audit raises as `ledger_imbalance`, found on demand. */
export const controlTotals: LedgerCheck = {
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
