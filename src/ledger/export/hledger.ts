import { formatAmount } from '../../core/money.ts'
import { hledgerAccount } from './account-name.ts'
import {
  dayOf,
  type ExportContents,
  type ExportedJournal,
  type ExportedTransfer,
  type ExportFormat,
  oneLine,
} from './exported-journal.ts'

/** A journal that "hledger check --strict" accepts: what it uses is declared at its end, where all of it is known. */
export const hledger: ExportFormat = {
  file: 'books.journal',
  head: 'decimal-mark .\n\n',
  journal: (journal) =>
    [
      `${dayOf(journal)} (${journal.id}) ${journal.kind}`,
      ...tagsOf(journal).map((tag) => `    ; ${tag}`),
      ...journal.transfers.flatMap(postingsOf),
      '\n',
    ].join('\n'),
  tail: declarations,
}

function tagsOf(journal: ExportedJournal): string[] {
  return [
    `posting-key:${plain(journal.postingKey)}`,
    `event-at:${journal.eventAt}`,
    `recorded-at:${journal.recordedAt}`,
    `period:${journal.period}`,
    ...(journal.depositId === null ? [] : [`deposit:${journal.depositId}`]),
    ...(journal.reverses === null ? [] : [`reverses:${journal.reverses}`]),
    ...(journal.reason === null ? [] : [`reason:${plain(journal.reason)}`]),
  ]
}

function postingsOf({ debit, credit, asset, amount }: ExportedTransfer): string[] {
  const posting = (account: string, signed: bigint) =>
    `    ${hledgerAccount(account)}  ${formatAmount(signed, asset.decimals)} "${asset.commodity}"`
  return [posting(debit, amount), posting(credit, -amount)]
}

function declarations({ accounts, assets }: ExportContents): string {
  const commodities = assets.map(({ asset: { commodity, decimals, key, symbol } }) => {
    const places = decimals === 0 ? '1000.' : `1000.${'0'.repeat(decimals)}`
    return `; ${plain(symbol)}, ${plain(key)}\ncommodity ${places} "${commodity}"\n`
  })
  const named = accounts.map((account) => {
    const name = hledgerAccount(account)
    return name === account ? `account ${name}\n` : `account ${name}  ; account:${plain(account)}\n`
  })
  return [...commodities, ...named].join('')
}

/**
 * hledger reads a file in the encoding of whoever runs it: what is not ASCII is written as JSON would escape it, and so is
 * a comma, which would end a tag.
 */
function plain(text: string): string {
  return oneLine(text).replaceAll(
    /[^ -~]|,/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
