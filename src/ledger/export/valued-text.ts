import { formatAmount } from '../../core/money.ts'
import { formatMinor, magnitudeOf } from '../../core/value.ts'
import type { ExportedAsset, ExportedValue, ExportFormat, ExportGaps } from './exported-journal.ts'
import {
  beancount,
  beancountAccount,
  beancountDeclarations,
  beancountJournal,
  hledger,
  hledgerAccount,
  hledgerJournal,
} from './plain-text.ts'

/** Accounts need no codes. */
const noGaps: ExportGaps = { add: () => undefined, refuse: () => undefined }

/** Each amount has the total that it is carried at, so that the file balances in the currency, gains included. */
export function valuedFormat(name: 'hledger' | 'beancount', currency: string): ExportFormat {
  return name === 'hledger' ? valuedHledger(currency) : valuedBeancount(currency)
}

function valuedHledger(currency: string): ExportFormat {
  return {
    ...hledger,
    gaps: noGaps,
    journal: (journal) => {
      const postings = postingsOf(journal.values).map(({ account, units, value }) => {
        const money = `${formatMinor(value, currency)} "${currency}"`
        const amount = units === null ? money : `${textOf(units)} "${units.asset.commodity}" @@ ${money}`
        return `    ${hledgerAccount(account)}  ${amount}`
      })
      return [hledgerJournal(journal, postings)]
    },
  }
}

/** Accounts take the costs of the file: Beancount knows no average cost. */
function valuedBeancount(currency: string): ExportFormat {
  return {
    ...beancount,
    gaps: noGaps,
    journal: (journal) => {
      const postings = postingsOf(journal.values).map(({ account, units, value }) => {
        const money = `${formatMinor(value, currency)} ${currency}`
        const amount = units === null ? money : `${textOf(units)} ${units.asset.commodity} {{${money}}}`
        return `  ${beancountAccount(account)}  ${amount}`
      })
      return [beancountJournal(journal, postings)]
    },
    tail: (used, priced) => beancountDeclarations(used, priced, ' "NONE"'),
  }
}

type HeldUnits = { asset: ExportedAsset; amount: bigint }

/** With units, the value is their cost, which is not negative. */
type ValuedPosting = { account: string; units: HeldUnits | null; value: bigint }

function postingsOf(values: readonly ExportedValue[]): ValuedPosting[] {
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

function textOf({ asset, amount }: HeldUnits): string {
  return formatAmount(amount, asset.decimals)
}
