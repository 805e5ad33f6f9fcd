import { formatAmount } from '../../core/money.ts'
import { csvLine } from '../../ledger/export/csv.ts'
import type { TableColumn } from '../../presentation/text.ts'
import type { ShortDelivery } from '../../store/mismatches/short-deliveries.ts'
import { html, tableOf } from './html.ts'

type DisputeSpan = { service: string; from: string | null; before: string | null }

/** Lists of short deliveries for the service: to calculate with, and to read and print. */
export function disputeLists(
  deliveries: readonly ShortDelivery[],
  about: DisputeSpan,
): { name: string; text: string }[] {
  return [
    { name: 'short-deliveries.csv', text: csvOf(deliveries) },
    { name: 'short-deliveries.html', text: pageOf(deliveries, about) },
  ]
}

/** Name of the evidence bundle. */
export function evidenceOf({ deposit }: Pick<ShortDelivery, 'deposit'>): string {
  return `evidence/${deposit}.json`
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

export type DisputedTotal = { asset: string; network: string; deliveries: number; short: string }

/** USDC of one network is not that of another. */
export function totalsOf(deliveries: readonly ShortDelivery[]): DisputedTotal[] {
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

export const totalColumns: TableColumn<DisputedTotal>[] = [
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

function pageOf(deliveries: readonly ShortDelivery[], { service, from, before }: DisputeSpan): string {
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
