import { roundingAccount } from '../../core/chart.ts'
import { assert, Fault } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { formatMinor } from '../../core/value.ts'
import { csvLine } from './csv.ts'
import {
  dayOf,
  type ExportedJournal,
  type ExportedValue,
  type ExportFormat,
  monthOf,
  numberOf,
  oneLine,
} from './exported-journal.ts'

/** Of an account, from the settings. */
export type Chart = (account: string) => { code: string | null; name: string | null }

/** `amount` is in the smallest coins of the currency, debits positive; never zero. */
type ImportLine = { account: string; description: string; amount: bigint }

/** `part` is 2 in the second of 3 journals into which a long one is split. */
type ImportJournal = { journal: ExportedJournal; part: number; parts: number }

type ImportProgram = {
  file: string
  /** Of a file that it accepts, with the header. */
  linesMax: number
  needsCodes: boolean
  columns: (currency: string, chart: Chart) => Record<string, (of: ImportJournal, line: ImportLine) => string>
}

const empty = () => ''

/** The template for manual journals. Lines with the same narration and date are one journal. */
const xero: ImportProgram = {
  file: 'xero-manual-journals.csv',
  linesMax: 300,
  needsCodes: true,
  columns: (currency, chart) => ({
    '*Narration': ({ journal, part, parts }) =>
      `${numberOf(journal)} ${journal.kind}${parts === 1 ? '' : ` (${part} of ${parts})`}`,
    '*Date': ({ journal }) => bookedOn(journal).split('-').toReversed().join('/'),
    Description: (_of, { description }) => description,
    '*AccountCode': (_of, { account }) => chart(account).code ?? '',
    '*TaxRate': () => 'Tax Exempt',
    '*Amount': (_of, { amount }) => formatMinor(amount, currency),
    TrackingName1: empty,
    TrackingOption1: empty,
    TrackingName2: empty,
    TrackingOption2: empty,
  }),
}

/** The import of journal entries into QuickBooks Online. Lines with the same number are one journal. */
const quickbooks: ImportProgram = {
  file: 'quickbooks-journal-entries.csv',
  linesMax: 1000,
  needsCodes: false,
  columns: (currency, chart) => ({
    JournalNo: ({ journal, part, parts }) => `${numberOf(journal)}${parts === 1 ? '' : `-${part}`}`,
    JournalDate: ({ journal }) => bookedOn(journal),
    AccountName: (_of, { account }) => chart(account).name ?? account,
    Debits: (_of, { amount }) => (amount > 0n ? formatMinor(amount, currency) : ''),
    Credits: (_of, { amount }) => (amount < 0n ? formatMinor(-amount, currency) : ''),
    Description: (_of, { description }) => description,
    Name: empty,
    Currency: () => currency,
    Location: empty,
    Class: empty,
  }),
}

export const importPrograms = { xero, quickbooks }

/** Journals in one currency, each of which sums to zero. */
export function importFormat(program: ImportProgram, currency: string, chart: Chart): ExportFormat {
  const { file, linesMax, needsCodes } = program
  const columns = program.columns(currency, chart)
  return {
    file,
    linesMax,
    head: csvLine(Object.keys(columns)),
    journal: (journal) => {
      const parts = inParts(valuedLines(journal, currency), linesMax - 1)
      return parts.map((lines, place) => {
        const of = { journal, part: place + 1, parts: parts.length }
        return lines.map((line) => csvLine(Object.values(columns).map((cell) => cell(of, line)))).join('')
      })
    },
    tail: () => '',
    gaps: new ImportGaps(currency, needsCodes ? chart : null),
  }
}

/** If the event's month was closed, the first day of the month whose books contain the journal. */
function bookedOn(journal: ExportedJournal): string {
  return monthOf(journal) === journal.period ? dayOf(journal) : `${journal.period}-01`
}

function valuedLines(journal: ExportedJournal, currency: string): ImportLine[] {
  const lateness = monthOf(journal) === journal.period ? '' : `, belongs to ${monthOf(journal)}`
  const about = `${oneLine(journal.reason ?? journal.postingKey)}${lateness}`
  return journal.values
    .filter(({ value }) => value !== 0n)
    .map((line) => ({
      account: line.account,
      description: `${about}: ${contentOf(line, currency)}`,
      amount: line.value,
    }))
}

function contentOf({ account, asset, units, price }: ExportedValue, currency: string): string {
  if (asset === null) return account === roundingAccount ? 'rounding' : 'gain or loss'
  const plain = formatAmount(units < 0n ? -units : units, asset.decimals)
  return `${units === 0n ? '' : `${plain} `}${asset.commodity} at ${price ?? ''} ${currency}`
}

/** Each part sums to zero. A line may be divided between two parts. */
function inParts(lines: readonly ImportLine[], linesMax: number): readonly ImportLine[][] {
  if (lines.length <= linesMax) return lines.length === 0 ? [] : [[...lines]]
  const parts: ImportLine[][] = []
  let part = new Map<ImportLine, bigint>()
  for (const { debit, credit, amount } of pairsOf(lines)) {
    // A pair may add two lines.
    if (part.size > linesMax - 2) {
      parts.push(amountsOf(part))
      part = new Map()
    }
    part.set(debit, (part.get(debit) ?? 0n) + amount)
    part.set(credit, (part.get(credit) ?? 0n) - amount)
  }
  return [...parts, amountsOf(part)]
}

function amountsOf(part: ReadonlyMap<ImportLine, bigint>): ImportLine[] {
  return [...part].map(([line, amount]) => ({ ...line, amount }))
}

/** All lines as pairs of a debit and a credit of the same amount. */
function* pairsOf(lines: readonly ImportLine[]) {
  const credits = lines.filter(({ amount }) => amount < 0n).map((line) => ({ line, left: -line.amount }))
  for (const debit of lines.filter(({ amount }) => amount > 0n)) {
    for (let left = debit.amount; left > 0n; ) {
      const [credit] = credits
      assert(credit !== undefined, 'the lines of a journal sum to zero')
      const amount = left < credit.left ? left : credit.left
      yield { debit, credit: credit.line, amount }
      left -= amount
      credit.left -= amount
      if (credit.left === 0n) credits.shift()
    }
  }
}

const namedMax = 20

/** Accounts that need a code and lack one. Collected before anything is written. */
class ImportGaps {
  readonly #currency: string
  readonly #chart: Chart | null
  readonly #accounts = new Set<string>()

  /** With a chart, every account needs a code. */
  constructor(currency: string, chart: Chart | null) {
    this.#currency = currency
    this.#chart = chart
  }

  add(journal: ExportedJournal): void {
    if (this.#chart === null) return
    for (const { account } of valuedLines(journal, this.#currency))
      if (this.#chart(account).code === null) this.#accounts.add(account)
  }

  /** @throws Fault `usage_bad` if anything is lacking */
  refuse(): void {
    if (this.#accounts.size === 0) return
    const problem = `no code of the account: ${someOf(this.#accounts)}`
    throw new Fault('usage_bad', {
      problem,
      fix: 'add codes to the setting accounts.labels and restart the daemon',
    })
  }
}

function someOf(names: ReadonlySet<string>): string {
  const more = names.size - namedMax
  const some = [...names].slice(0, namedMax).join(', ')
  return more > 0 ? `${some} and ${more} more` : some
}
