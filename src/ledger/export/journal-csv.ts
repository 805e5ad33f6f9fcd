import { formatAmount } from '../../core/money.ts'
import { csvLine } from './csv-cell.ts'
import {
  dayOf,
  type ExportedJournal,
  type ExportedTransfer,
  type ExportFormat,
  monthOf,
} from './exported-journal.ts'

/** The code and name of an account in other books, if the settings give them. */
export type Chart = (account: string) => { code: string | null; name: string | null }

/** The columns of Xero's template for manual journals, then those of QuickBooks Online's import. */
const columns = [
  '*Narration',
  '*Date',
  'Description',
  '*AccountCode',
  '*TaxRate',
  '*Amount',
  'JournalNo',
  'JournalDate',
  'AccountName',
  'Debits',
  'Credits',
  'Currency',
]

/**
 * One file that Xero and QuickBooks both import. They allow one currency per journal, so a journal with several assets
 * becomes one for each, which balances by itself. Its date is in the month whose books contain it.
 */
export function journalCsv(chart: Chart): ExportFormat {
  return {
    file: 'journal-import.csv',
    head: csvLine(columns),
    journal: (journal) => {
      const byAsset = [...Map.groupBy(journal.transfers, ({ asset }) => asset.key).values()]
      return byAsset.map((transfers, place) => linesOf(journal, { chart, transfers, place })).join('')
    },
    tail: () => '',
  }
}

type SingleAssetJournal = { chart: Chart; transfers: readonly ExportedTransfer[]; place: number }

function linesOf(journal: ExportedJournal, { chart, transfers, place }: SingleAssetJournal): string {
  const number = `${journal.id}-${place + 1}`
  const [year, month, day] = bookedOn(journal).split('-')
  const narration = `${number} ${journal.kind}`
  const lateness = monthOf(journal) === journal.period ? '' : `, belongs to ${monthOf(journal)}`
  const description = `${journal.reason ?? journal.postingKey}${lateness}`
  const side = (account: string, { asset, amount }: ExportedTransfer, isDebit: boolean) => {
    const { code, name } = chart(account)
    const plain = formatAmount(amount, asset.decimals)
    return csvLine([
      narration,
      `${day}/${month}/${year}`,
      description,
      code ?? '',
      'Tax Exempt',
      isDebit ? plain : `-${plain}`,
      number,
      `${year}-${month}-${day}`,
      name ?? account,
      isDebit ? plain : '',
      isDebit ? '' : plain,
      asset.commodity,
    ])
  }
  return transfers
    .map((transfer) => side(transfer.debit, transfer, true) + side(transfer.credit, transfer, false))
    .join('')
}

/** A journal that arrives after its month was closed is dated on the first day of the month whose books contain it. */
function bookedOn(journal: ExportedJournal): string {
  return monthOf(journal) === journal.period ? dayOf(journal) : `${journal.period}-01`
}
