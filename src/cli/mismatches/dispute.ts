import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { csvLine } from '../../ledger/export/csv.ts'
import { html, tableOf } from '../../ops/console/html.ts'
import type { Database } from '../../store/database.ts'
import { readShortDeliveries, type ShortDelivery } from '../../store/mismatches/short-deliveries.ts'
import type { Tables } from '../../store/tables.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { createBundleWriter } from '../deposits/evidence.ts'
import { writeOut } from '../files.ts'
import { checkFilters } from '../filters.ts'
import { momentText, type SpanOptions, spanOf } from '../ledger/moments.ts'
import { wrongUse } from '../options.ts'
import { recordTaken } from '../people/signing.ts'
import { type News, print, reportProgress, type TableColumn, table } from '../print.ts'

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
    await recordTaken(context, db, {
      action: 'dispute_made',
      detail: `${found.length} deliveries of ${name}`,
    })
    return { service: name, deliveries: found, unproved: await writeBundles(context, db, { folder, found }) }
  })
  if (deliveries.length > 0) {
    writeOut(join(folder, 'short-deliveries.csv'), csvOf(deliveries))
    writeOut(join(folder, 'short-deliveries.html'), pageOf(deliveries, { service, ...span }))
  }
  const totals = totalsOf(deliveries)
  const listed = deliveries.map(({ group: _group, ...one }) => one)
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

function evidenceOf({ deposit }: Pick<ShortDelivery, 'deposit'>): string {
  return join('evidence', `${deposit}.json`)
}

/** Of the CSV file. */
const cells: Readonly<Record<string, (delivery: ShortDelivery) => string | null>> = {
  service_id: ({ service_id: id }) => id,
  owner: ({ owner }) => owner,
  paid_at: ({ paid_at: at }) => at.toISOString(),
  network: ({ network }) => network,
  tx: ({ tx }) => tx,
  paid: ({ paid }) => paid,
  paid_asset: ({ paid_asset: symbol }) => symbol,
  delivery_network: (one) => one.delivery_network,
  recipient: ({ recipient }) => recipient,
  delivery_tx: (one) => one.delivery_tx,
  delivery_asset: (one) => one.delivery_asset,
  stated: ({ stated }) => stated,
  delivered: ({ delivered }) => delivered,
  short: ({ short }) => short,
  noticed_at: ({ noticed_at: at }) => at.toISOString(),
  evidence: evidenceOf,
}

function csvOf(deliveries: readonly ShortDelivery[]): string {
  const columns = Object.values(cells)
  const lines = deliveries.map((one) => csvLine(columns.map((cell) => cell(one) ?? '')))
  return csvLine(Object.keys(cells)) + lines.join('')
}

type Total = { asset: string; network: string; deliveries: number; short: string }

/** USDC of one network is not that of another. */
function totalsOf(deliveries: readonly ShortDelivery[]): Total[] {
  const byAsset = Map.groupBy(deliveries, (one) => `${one.delivery_asset} on ${one.delivery_network}`)
  return [...byAsset.values()].flatMap((some) => {
    const [first] = some
    if (first === undefined) return []
    const sum = some.reduce((whole, one) => whole + BigInt(one.short_base), 0n)
    return [
      {
        asset: first.delivery_asset,
        network: first.delivery_network,
        deliveries: some.length,
        short: formatAmount(sum, first.decimals),
      },
    ]
  })
}

const totalColumns: TableColumn<Total>[] = [
  { title: 'ASSET', value: ({ asset }) => asset },
  { title: 'NETWORK', value: ({ network }) => network },
  { title: 'DELIVERIES', value: ({ deliveries }) => `${deliveries}`, align: 'right' },
  { title: 'SHORT', value: ({ short }) => short, align: 'right' },
]

const deliveryColumns: TableColumn<ShortDelivery>[] = [
  { title: 'DEPOSIT', value: ({ service_id: id, deposit }) => id ?? `${deposit}` },
  { title: 'PAID AT', value: ({ paid_at: at }) => at.toISOString() },
  { title: 'PAID', value: ({ paid, paid_asset: symbol, network }) => `${paid} ${symbol} on ${network}` },
  { title: 'PAYMENT', value: ({ tx }) => tx },
  { title: 'RECIPIENT', value: (one) => `${one.recipient} on ${one.delivery_network}` },
  { title: 'DELIVERY', value: (one) => one.delivery_tx ?? '' },
  { title: 'STATED', value: (one) => `${one.stated} ${one.delivery_asset}`, align: 'right' },
  { title: 'DELIVERED', value: ({ delivered }) => delivered, align: 'right' },
  { title: 'SHORT', value: ({ short }) => short, align: 'right' },
]

const style = `
  body { font: 11pt/1.4 sans-serif; margin: 2em }
  table { border-collapse: collapse; width: 100%; margin: 1em 0; font-size: 9pt }
  caption { text-align: left; font-weight: bold; padding: 0.5em 0 }
  th, td { border: 1px solid #999; padding: 0.3em; text-align: left; overflow-wrap: anywhere; vertical-align: top }
  .right { text-align: right }
  tr { break-inside: avoid }
  @page { size: A4 landscape; margin: 1.5cm }`

function pageOf(
  deliveries: readonly ShortDelivery[],
  { service, from, before }: { service: string; from: string | null; before: string | null },
): string {
  const span = `${from === null ? '' : ` from ${from}`}${before === null ? '' : ` until ${before}`}`
  const { text } = html`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Short deliveries of ${service}</title><style>${style}</style>
<h1>Short deliveries of ${service}</h1>
<p>For payments${span}, less arrived at the recipient than the service states. Times are in UTC.</p>
${tableOf(totalsOf(deliveries), { caption: 'In total', columns: totalColumns, empty: '' })}
${tableOf(deliveries, { caption: 'Each delivery', columns: deliveryColumns, empty: '' })}
<p>The folder evidence holds a file for each deposit: the webhooks and records of the service as received, and the
transfers on the chains. Anyone can check one without our systems: bin/depositd evidence verify FILE</p>
</html>
`
  return text
}

function textOf({
  folder,
  totals,
  unproved,
}: {
  folder: string
  totals: readonly Total[]
  unproved: readonly string[]
}): string {
  if (totals.length === 0) return 'No delivery is short: no file was written.\n'
  const files = `${folder} holds short-deliveries.csv, short-deliveries.html and a bundle for each in evidence.\n`
  const warnings = unproved.map((path) => `${path} does not verify: "bin/depositd evidence verify ${path}"\n`)
  return table(totals, totalColumns) + files + warnings.join('')
}
