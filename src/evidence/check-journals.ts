import type { BundleParts } from './bundle.ts'
import { canonicalText } from './canonical.ts'
import type { Problems } from './check.ts'

type BundleLedgerTransfer = { debit: unknown; credit: unknown }
type BundleJournal = BundleParts['journals'][number] & { transfers?: readonly BundleLedgerTransfer[] }

/** Holds the journals against the verdict, and every reversal against what it takes back. */
export function checkJournals({ verdict, journals }: BundleParts): Problems {
  const due = verdict.deposits.flatMap(({ toBook }) => toBook as { key: string }[])
  const keys = journals.map(({ key }) => key)
  const twice = keys.filter((key, place) => keys.indexOf(key) !== place)
  const reversals = journals.filter(({ kind }) => kind === 'reversal')
  return [
    ...due.map(({ key }) => `not in the books as the evidence asks: ${key}`),
    ...twice.map((key) => `booked twice: ${String(key)}`),
    ...reversals
      .filter(
        (one) =>
          !takesBack(
            one,
            journals.find(({ key }) => key === one.reverses),
          ),
      )
      .map(({ key }) => `${String(key)} does not take back what it names`),
  ]
}

/** The same amounts, with both sides exchanged. */
function takesBack(reversal: BundleJournal, original: BundleJournal | undefined): boolean {
  const swapped = original?.transfers?.map((one) => ({ ...one, debit: one.credit, credit: one.debit }))
  return swapped !== undefined && canonicalText(swapped) === canonicalText(reversal.transfers)
}
