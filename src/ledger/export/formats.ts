import { beancount } from './beancount.ts'
import { entriesCsv } from './entries-csv.ts'
import type { ExportFormat } from './exported-journal.ts'
import { hledger } from './hledger.ts'
import { type Chart, journalCsv } from './journal-csv.ts'
import { journalsJsonl } from './journals-jsonl.ts'

export const formatNames = ['csv', 'jsonl', 'hledger', 'beancount', 'journal-csv'] as const
export type ExportFormatName = (typeof formatNames)[number]

export function formatOf(name: ExportFormatName, chart: Chart): ExportFormat {
  const formats: Record<ExportFormatName, ExportFormat> = {
    csv: entriesCsv,
    jsonl: journalsJsonl,
    hledger,
    beancount,
    'journal-csv': journalCsv(chart),
  }
  return formats[name]
}
