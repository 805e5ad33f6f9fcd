import { createHash } from 'node:crypto'
import { Fault } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { minorPlaces } from '../../core/value.ts'
import {
  dayOf,
  type ExportContents,
  type ExportedAsset,
  type ExportedJournal,
  type ExportedPrices,
  type ExportedTransfer,
  type ExportFormat,
  numberOf,
  oneLine,
} from './exported-journal.ts'

/** Beancount requires a day before any booking for declarations. */
const dayOne = '1970-01-01'

/** "bean-check" accepts it. Beancount sorts directives by day. */
export const beancount: ExportFormat = {
  file: 'books.beancount',
  head: 'option "title" "depositd"\n\n',
  journal: (journal) => [beancountJournal(journal, journal.transfers.flatMap(beancountPostings))],
  tail: (used, priced) => beancountDeclarations(used, priced, () => ''),
  hasPrices: true,
}

export function beancountJournal(
  journal: ExportedJournal,
  postings: readonly string[],
  day = dayOf(journal),
): string {
  return [
    `${day} * ${quoted(journal.kind)}`,
    `  journal: "${numberOf(journal)}"`,
    ...metadataOf(journal).map(([name, value]) => `  ${name}: ${quoted(value)}`),
    ...postings,
    '\n',
  ].join('\n')
}

function metadataOf(journal: ExportedJournal): [string, string][] {
  const all: [string, string | bigint | null][] = [
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

function beancountPostings({ debit, credit, asset, amount }: ExportedTransfer): string[] {
  const posting = (account: string, signed: bigint) =>
    `  ${beancountAccount(account)}  ${formatAmount(signed, asset.decimals)} ${asset.commodity}`
  return [posting(debit, amount), posting(credit, -amount)]
}

/** Beancount silently rounds to this many digits. */
const digitsMax = 28

/** @param bookingOf the method of an account, in quotes; empty for the default */
export function beancountDeclarations(
  { accounts, assets }: ExportContents,
  priced: ExportedPrices,
  bookingOf: (account: string) => string,
): string {
  for (const { asset, amount } of assets) if (amount >= 10n ** BigInt(digitsMax)) throw tooLong(asset)
  const commodities = assets.map(
    ({ asset: { commodity, key, symbol } }) =>
      `${dayOne} commodity ${commodity}\n  asset: ${quoted(key)}\n  symbol: ${quoted(symbol)}\n`,
  )
  const opened = accounts.map(
    (account) =>
      `${dayOne} open ${beancountAccount(account)}${bookingOf(account)}\n  account: ${quoted(account)}\n`,
  )
  const prices = priced?.prices.map(
    ({ day, asset, price }) => `${day} price ${asset.commodity} ${price} ${priced.currency}\n`,
  )
  return [...commodities, ...opened, ...(prices ?? [])].join('')
}

function quoted(text: string): string {
  return `"${oneLine(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

function tooLong({ key }: ExportedAsset): Fault {
  return new Fault('usage_bad', {
    problem: `amounts of ${key} add up to more than ${digitsMax} digits, and Beancount would round them`,
    fix: 'use --format hledger, or export a shorter period',
  })
}

/**
 * hledger accepts most names. A part that it could misread, such as an owner's id with blanks, is reduced to safe
 * characters and a digest. No two accounts get the same name.
 */
export function hledgerAccount(account: string): string {
  return account
    .split(':')
    .map((part) => (/^[A-Za-z0-9][A-Za-z0-9_.@+/-]*$/.test(part) ? part : `${safe(part)}~${digestOf(part)}`))
    .join(':')
}

/**
 * `Assets:In-transit:Base`: parts begin with a capital letter or a digit. A part that is not all lower-case letters,
 * digits and underscores ends in `X` and a digest: no other part has a later capital letter, so no two accounts get the
 * same name.
 */
export function beancountAccount(account: string): string {
  // Beancount has five classes.
  return account
    .replace(/^trading:/, 'equity:trading:')
    .split(':')
    .map((part) => {
      const isPlain = /^[a-z0-9][a-z0-9_]*$/.test(part)
      return capitalised(isPlain ? part.replaceAll('_', '-') : `${safe(part)}-X${digestOf(part)}`)
    })
    .join(':')
}

function safe(part: string): string {
  const cut = part
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 40)
  return cut === '' ? 'x' : cut
}

function digestOf(part: string): string {
  return createHash('sha256').update(part).digest('hex').slice(0, 10).toUpperCase()
}

function capitalised(part: string): string {
  return part.slice(0, 1).toUpperCase() + part.slice(1)
}

/**
 * `USDC.BASE.1A2B3C4`: symbol, network, and seven digits of the SHA-256 of the key. Another token with the same symbol
 * changes no name exported before. Beancount allows 24 capital letters, digits and dots, beginning with a letter.
 */
export function commodityOf({ key, symbol }: { key: string; symbol: string }): string {
  const network = key.slice(0, key.indexOf('/'))
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 7).toUpperCase()
  const label = capitals(symbol)
  const first = (/^[A-Z]/.test(label) ? label : `X${label}`).slice(0, 8)
  const second = capitals(network).slice(0, 15 - first.length)
  return [first, second, digest].filter((part) => part !== '').join('.')
}

function capitals(text: string): string {
  return text
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
}

/** "hledger check --strict" accepts it. Declarations come last, when all are known. */
export const hledger: ExportFormat = {
  file: 'books.journal',
  head: 'decimal-mark .\n\n',
  journal: (journal) => [hledgerJournal(journal, journal.transfers.flatMap(hledgerPostings))],
  tail: hledgerDeclarations,
  hasPrices: true,
}

export function hledgerJournal(journal: ExportedJournal, postings: readonly string[]): string {
  return [
    `${dayOf(journal)} (${numberOf(journal)}) ${journal.kind}`,
    ...tagsOf(journal).map((tag) => `    ; ${tag}`),
    ...postings,
    '\n',
  ].join('\n')
}

function tagsOf(journal: ExportedJournal): string[] {
  return metadataOf(journal).map(([name, value]) => `${name.replace('_', '-')}:${hledgerText(value)}`)
}

function hledgerPostings({ debit, credit, asset, amount }: ExportedTransfer): string[] {
  const posting = (account: string, signed: bigint) =>
    `    ${hledgerAccount(account)}  ${formatAmount(signed, asset.decimals)} "${asset.commodity}"`
  return [posting(debit, amount), posting(credit, -amount)]
}

function hledgerDeclarations({ accounts, assets }: ExportContents, priced: ExportedPrices): string {
  const commodities = assets.map(({ asset: { commodity, decimals, key, symbol } }) => {
    return `; ${hledgerText(symbol)}, ${hledgerText(key)}\ncommodity 1000.${'0'.repeat(decimals)} "${commodity}"\n`
  })
  const named = accounts.map((account) => {
    const name = hledgerAccount(account)
    const tags = [
      ...(name === account ? [] : [`account:${hledgerText(account)}`]),
      ...(account.startsWith('trading:') ? ['type:V'] : []),
    ]
    return tags.length === 0 ? `account ${name}\n` : `account ${name}  ; ${tags.join(', ')}\n`
  })
  return [...commodities, ...named, ...hledgerPrices(priced)].join('')
}

function hledgerPrices(priced: ExportedPrices): string[] {
  if (priced === null) return []
  const { currency, prices } = priced
  return [
    `commodity 1000.${'0'.repeat(minorPlaces(currency))} "${currency}"\n`,
    ...prices.map(({ day, asset, price }) => `P ${day} "${asset.commodity}" ${price} "${currency}"\n`),
  ]
}

/**
 * hledger decodes a file by its user's locale, so characters outside ASCII are escaped as in JSON. A comma would end a
 * tag.
 */
function hledgerText(text: string): string {
  return oneLine(text).replaceAll(
    /[^ -~]|,/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
