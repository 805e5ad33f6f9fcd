import { beancount } from './beancount.ts'
import { entriesCsv } from './entries-csv.ts'
import type { Format } from './exported-journal.ts'
import { hledger } from './hledger.ts'
import { type Chart, journalCsv } from './journal-csv.ts'
import { journalsJsonl } from './journals-jsonl.ts'

export const formatNames = ['csv', 'jsonl', 'hledger', 'beancount', 'journal-csv'] as const
export type FormatName = (typeof formatNames)[number]

export function formatOf(name: FormatName, chart: Chart): Format {
  const formats: Record<FormatName, Format> = {
    csv: entriesCsv,
    jsonl: journalsJsonl,
    hledger,
    beancount,
    'journal-csv': journalCsv(chart),
  }
  return formats[name]
}
