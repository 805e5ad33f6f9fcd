import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../core/errors.ts'
import {
  type DisputedTotal,
  disputeLists,
  evidenceOf,
  totalColumns,
  totalsOf,
} from '../../ops/console/dispute.ts'
import type { Database } from '../../store/database.ts'
import { readShortDeliveries, type ShortDelivery } from '../../store/mismatches/short-deliveries.ts'
import type { Tables } from '../../store/tables.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { createBundleWriter } from '../deposits/evidence.ts'
import { writeOut } from '../files.ts'
import { checkFilters } from '../filters.ts'
import { momentText, type SpanOptions, spanOf } from '../ledger/moments.ts'
import { wrongUse } from '../options.ts'
import { recordAct } from '../people/signing.ts'
import { type News, print, reportProgress, table } from '../print.ts'

type DisputeOptions = Pick<SpanOptions, 'from' | 'to'> & { out: string; service?: string; all?: boolean }

/** Writes what the service has to answer for into a folder. Bad news if a bundle would not verify. */
export async function disputeCommand(
  context: Context,
  { out: folder, all = false, ...options }: DisputeOptions,
): Promise<News> {
  const { from, until } = spanOf(options)
  const span = {
    from: from === null ? null : momentText(from),
    before: until === null ? null : momentText(until + 1n),
  }
  const { service, deliveries, unproved } = await withDatabase(context, async (db) => {
    const name = await chosenService(context, db, options.service)
    const found = await readShortDeliveries(db, { service: name, ...span, isWithResolved: all })
    await recordAct(context, db, {
      action: 'dispute_made',
      detail: `${found.length} deliveries of ${name}`,
    })
    return { service: name, deliveries: found, unproved: await writeBundles(context, db, { folder, found }) }
  })
  if (deliveries.length > 0)
    for (const { name, text } of disputeLists(deliveries, { service, ...span }))
      writeOut(join(folder, name), text)
  const totals = totalsOf(deliveries)
  const listed = deliveries.map(({ group: _group, service: _service, ...one }) => one)
  const document = { service, folder, deliveries: listed, totals, unproved }
  print(context, document, textOf({ folder, totals, unproved }))
  return unproved.length === 0 ? 'good' : 'bad'
}

/** The files go to one service. */
async function chosenService(context: Context, db: Database<Tables>, asked?: string): Promise<string> {
  await checkFilters(context, db, { service: asked })
  const [first, second] = attachedSettings(context).services
  if (asked === undefined && second !== undefined)
    throw wrongUse('there are several services', 'say which one with --service')
  return asked ?? first.name
}

/** @returns the files of those that would not verify */
async function writeBundles(
  context: Context,
  db: Database<Tables>,
  { folder, found }: { folder: string; found: readonly ShortDelivery[] },
): Promise<string[]> {
  if (found.length === 0) return []
  const writeBundle = createBundleWriter(context)
  const report = reportProgress(context)
  makeFolder(join(folder, 'evidence'))
  const unproved: string[] = []
  for (const [place, { deposit, group }] of found.entries()) {
    const path = join(folder, evidenceOf({ deposit }))
    const { failed } = await writeBundle(db, { id: deposit, groupId: group }, path)
    if (failed.length > 0) unproved.push(path)
    report(`evidence bundles: ${place + 1} of ${found.length}`)
  }
  return unproved
}

/** The bundles of an earlier dispute must not go to the service with these. */
function makeFolder(path: string): void {
  let made: string | undefined
  try {
    made = mkdirSync(path, { recursive: true })
  } catch (error) {
    const problem = `--out cannot be written: ${messageOf(error)}`
    throw wrongUse(problem, 'give the path of a folder that can be made', { cause: error })
  }
  if (made === undefined) throw wrongUse(`${path} is there already`, 'give another folder with --out')
}

function textOf({
  folder,
  totals,
  unproved,
}: {
  folder: string
  totals: readonly DisputedTotal[]
  unproved: readonly string[]
}): string {
  if (totals.length === 0) return 'No delivery is short: no file was written.\n'
  const files = `${folder} holds short-deliveries.csv, short-deliveries.html and a bundle for each in evidence.\n`
  const warnings = unproved.map((path) => `${path} does not verify: "bin/depositd evidence verify ${path}"\n`)
  return table(totals, totalColumns) + files + warnings.join('')
}
