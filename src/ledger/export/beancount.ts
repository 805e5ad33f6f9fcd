import { Fault } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { beancountAccount } from './account-name.ts'
import {
  dayOf,
  type ExportContents,
  type ExportedAsset,
  type ExportedJournal,
  type ExportedTransfer,
  type ExportFormat,
  oneLine,
} from './exported-journal.ts'

/** Before any possible booking: Beancount requires a day for the declaration of an account or commodity. */
const dayOne = '1970-01-01'

/**
 * A file that "bean-check" accepts. Beancount reads directives in the order of their days, regardless of their
 * position.
 */
export const beancount: ExportFormat = {
  file: 'books.beancount',
  head: 'option "title" "depositd"\n\n',
  journal: (journal) =>
    [
      `${dayOf(journal)} * ${quoted(journal.kind)}`,
      ...metadataOf(journal).map(([name, value]) => `  ${name}: ${quoted(value)}`),
      ...journal.transfers.flatMap(postingsOf),
      '\n',
    ].join('\n'),
  tail: declarations,
}

function metadataOf(journal: ExportedJournal): [string, string][] {
  const all: [string, string | bigint | null][] = [
    ['journal', journal.id],
    ['posting_key', journal.postingKey],
    ['event_at', journal.eventAt],
    ['recorded_at', journal.recordedAt],
    ['period', journal.period],
    ['deposit', journal.depositId],
    ['reverses', journal.reverses],
    ['reason', journal.reason],
  ]
  return all.flatMap(([name, value]) => (value === null ? [] : [[name, value.toString()]]))
}

function postingsOf({ debit, credit, asset, amount }: ExportedTransfer): string[] {
  const posting = (account: string, signed: bigint) =>
    `  ${beancountAccount(account)}  ${formatAmount(signed, asset.decimals)} ${asset.commodity}`
  return [posting(debit, amount), posting(credit, -amount)]
}

/** Beancount calculates with this many digits and silently rounds the rest. */
const digitsMax = 28

function declarations({ accounts, assets }: ExportContents): string {
  for (const { asset, amount } of assets) if (amount >= 10n ** BigInt(digitsMax)) throw tooLong(asset)
  const commodities = assets.map(
    ({ asset: { commodity, key, symbol } }) =>
      `${dayOne} commodity ${commodity}\n  asset: ${quoted(key)}\n  symbol: ${quoted(symbol)}\n`,
  )
  const opened = accounts.map(
    (account) => `${dayOne} open ${beancountAccount(account)}\n  account: ${quoted(account)}\n`,
  )
  return [...commodities, ...opened].join('')
}

function quoted(text: string): string {
  return `"${oneLine(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

function tooLong({ key }: ExportedAsset): Fault {
  return new Fault('usage_bad', {
    problem: `amounts of ${key} add up to more than ${digitsMax} digits, which Beancount would round`,
    fix: 'use --format hledger, or a shorter time',
  })
}
