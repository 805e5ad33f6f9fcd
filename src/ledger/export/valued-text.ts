import { formatAmount } from '../../core/money.ts'
import { formatMinor, magnitudeOf } from '../../core/value.ts'
import type { ExportedAsset, ExportedValue, ExportFormat, ExportGaps } from './exported-journal.ts'
import { hledger, hledgerAccount, hledgerJournal } from './plain-text.ts'

/** Accounts need no codes. */
const noGaps: ExportGaps = { add: () => undefined, refuse: () => undefined }

/** Each amount has the total that it is carried at, so that the file balances in the currency, gains included. */
export function valuedHledger(currency: string): ExportFormat {
  return {
    ...hledger,
    gaps: noGaps,
    journal: (journal) => {
      const postings = postingsOf(journal.values).map(({ account, units, value }) => {
        const money = `${formatMinor(value, currency)} "${currency}"`
        const amount = units === null ? money : `${unitsText(units)} "${units.asset.commodity}" @@ ${money}`
        return `    ${hledgerAccount(account)}  ${amount}`
      })
      return [hledgerJournal(journal, postings)]
    },
  }
}

type HeldUnits = { asset: ExportedAsset; amount: bigint }

/** With units, the value is their cost, which is not negative. */
export type ValuedPosting = { account: string; units: HeldUnits | null; value: bigint }

export function postingsOf(values: readonly ExportedValue[]): ValuedPosting[] {
  return values.flatMap(({ account, asset, units: amount, value }) => {
    if (asset === null || amount === 0n) return [{ account, units: null, value }]
    const units = { asset, amount }
    if (value === 0n || value > 0n === amount > 0n) return [{ account, units, value: magnitudeOf(value) }]
    return [
      { account, units, value: 0n },
      { account, units: null, value },
    ]
  })
}

export function unitsText({ asset, amount }: HeldUnits): string {
  return formatAmount(amount, asset.decimals)
}
