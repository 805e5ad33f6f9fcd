import { openingDeps } from '../../app/rules.ts'
import { checkOpening, untilDecided } from '../../jobs/books/open-books.ts'
import { type OpeningChange, prepareOpening } from '../../jobs/people/opening-procedure.ts'
import { isDifferent } from '../../ledger/opening.ts'
import { placeOf } from '../../presentation/journal.ts'
import { attachedSettings, type Context, longQueryMs, withDatabase } from '../context.ts'
import { readTextFile } from '../files.ts'
import { textOf, wrongUse } from '../options.ts'
import { decideCommand } from '../people/decide.ts'
import { type News, print, printable, reportProgress } from '../print.ts'
import { openingDocument, openingText } from './opening-text.ts'

type OpenOptions = {
  breakGlass?: string
  dryRun?: boolean
  at: Date
  reason: string
  limit: number
  wait: number
  file?: string
  fromService?: boolean
  differencesToSuspense?: boolean
}

/** Bad news if a dry run finds differences, and no decision about them is given. */
export async function openBooksCommand(context: Context, options: OpenOptions): Promise<News> {
  const change: OpeningChange = {
    at: options.at.toISOString(),
    file: statedIn(options),
    toSuspense: options.differencesToSuspense === true,
    reason: textOf('--reason', options.reason),
  }
  const isFine = await tryOpening(context, change, options)
  if (options.dryRun === true) return isFine ? 'good' : 'bad'
  await decideCommand(context, { kind: 'opening', change }, options.breakGlass)
  return 'good'
}

/** Waits until it can be booked, and prints what would be, if nothing is booked. @returns false if there are differences */
async function tryOpening(
  context: Context,
  change: OpeningChange,
  { dryRun, limit, wait }: OpenOptions,
): Promise<boolean> {
  const settings = attachedSettings(context)
  return withDatabase(
    context,
    async (db) => {
      const deps = await openingDeps(settings, db)
      const opening = await prepareOpening(deps, change)
      const patience = { waitMs: wait * 1000, report: reportProgress(context) }
      const preview = await untilDecided(() => checkOpening(deps, opening), patience)
      const isFine = change.toSuspense || !preview.rows.some(isDifferent)
      const text = openingText(preview, { ...deps, limit })
      const did = `valid, not booked: ${preview.key}, ${placeOf(preview)}`
      if (dryRun === true)
        print(
          context,
          openingDocument(preview, deps.assets),
          printable(`${text.rows}${text.costs}${did}\n${text.replaced}\n`),
        )
      else if (!isFine) context.stderr.write(printable(text.rows))
      return isFine
    },
    longQueryMs,
  )
}

/** Null to state what is proved. */
function statedIn({ file, fromService }: OpenOptions): string | null {
  if (file !== undefined) return readTextFile('the file of balances', file)
  if (fromService === true) return null
  throw wrongUse('no balances are given', 'give --file, or --from-service')
}
