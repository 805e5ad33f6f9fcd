import { join } from 'node:path'
import { type ExportProgress, exportLedger, type Manifest } from '../../jobs/books/export-ledger.ts'
import { refuseForged } from '../../jobs/people/check-decisions.ts'
import type { ExportFormatName } from '../../ledger/export/formats.ts'
import { exportText } from '../../presentation/ledger.ts'
import { type Context, longQueryMs, withDatabase } from '../context.ts'
import { pinnedKey, recordAct } from '../people/signing.ts'
import { AsWritten, print, printable, reportProgress, table } from '../print.ts'
import { momentText, monthOption, type SpanOptions, spanOf } from './moments.ts'

type ExportOptions = SpanOptions & {
  format: ExportFormatName
  out: string
  period?: string
  account?: string
  owner?: string
  valued?: boolean
  unverified?: boolean
}

const progressEveryMs = 2000

export async function exportCommand(context: Context, options: ExportOptions): Promise<void> {
  const span = spanOf(options)
  const selection = {
    from: span.from === null ? null : momentText(span.from),
    before: span.until === null ? null : momentText(span.until + 1n),
    period: options.period === undefined ? null : monthOption(options.period),
    recordedAsOf: span.recordedUntil === null ? null : momentText(span.recordedUntil),
    account: options.account ?? null,
    owner: options.owner ?? null,
  }
  const wish = {
    format: options.format,
    selection,
    folder: options.out,
    isValued: options.valued ?? false,
    onProgress: progressOf(context),
  }
  const manifest = await withDatabase(
    context,
    async (db) => {
      if (options.unverified !== true)
        await refuseForged(db, pinnedKey(context), 'with --unverified, they are exported as they are')
      await recordAct(context, db, {
        action: 'exported',
        detail: exportText({ ...options, isValued: options.valued }),
      })
      return exportLedger(db, wish)
    },
    longQueryMs,
  )
  print(context, new AsWritten(manifest), textOf(manifest, options.out))
}

function progressOf(context: Context): (progress: ExportProgress) => void {
  const report = reportProgress(context)
  let reportedAt = Date.now()
  return ({ journals, at, of }) => {
    if (Date.now() - reportedAt < progressEveryMs) return
    reportedAt = Date.now()
    report(`journals exported: ${journals}; read up to number ${at} of ${of}`)
  }
}

function textOf({ files, journals, transfers, totals }: Manifest, folder: string): string {
  const sums = table(totals, [
    { title: 'ASSET', value: ({ asset }) => asset },
    { title: 'COMMODITY', value: ({ commodity }) => commodity },
    { title: 'TRANSFERS', value: (total) => total.transfers, align: 'right' },
    { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  ])
  return [
    `${journals} journals, ${transfers} transfers\n`,
    ...files.map(({ name, sha256 }) => printable(`${join(folder, name)}: SHA-256 ${sha256}\n`)),
    ...(totals.length === 0 ? [] : [sums]),
  ].join('')
}
