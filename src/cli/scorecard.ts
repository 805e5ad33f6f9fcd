import { readScorecard, type ScorecardLine } from '../store/scorecard.ts'
import { type Context, withDatabase } from './context.ts'
import { checkFilters } from './filters.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf } from './lists.ts'
import { timeOf } from './options.ts'
import { duration, print, type TableColumn, table } from './print.ts'

export async function scorecardCommand(
  context: Context,
  { since, service, ...options }: ListOptions & { since: string; service?: string },
): Promise<void> {
  const [from, to] = [timeOf('--since', since, -1), new Date()]
  const { rows, services } = await withDatabase(context, async (db) => ({
    services: await checkFilters(context, db, { service }),
    rows: await readScorecard(db, { from, to }),
  }))
  const shown = rows.filter((line) => service === undefined || line.service === service)
  const empty = `no deposits since ${from.toISOString()}`
  const page = pageOf(shown, options, paging)
  const text = services.hasSeveralServices ? partsText(page.items) : table(page.items, columns)
  print(context, page, `${page.items.length === 0 ? `${empty}\n` : text}${goOnLine(context, page)}`)
}

function partsText(lines: readonly ScorecardLine[]): string {
  const parts = Map.groupBy(lines, ({ service }) => service)
  return [...parts].map(([service, rows]) => `service ${service}\n${table(rows, columns)}`).join('\n')
}

const paging: ListKeyset<ScorecardLine> = {
  list: 'scorecard',
  keyOf: ({ service, asset, settlement_asset: settled }) => [service, asset ?? '', settled ?? ''],
}

const columns: TableColumn<ScorecardLine>[] = [
  { title: 'ROUTE', value: ({ route }) => route },
  { title: 'DEPOSITS', value: ({ deposits }) => `${deposits}`, align: 'right' },
  { title: 'SETTLED', value: ({ settled }) => `${settled}`, align: 'right' },
  { title: 'WEBHOOKS RECEIVED', value: ({ completeness }) => percent(completeness), align: 'right' },
  { title: 'DUPLICATES', value: ({ duplicates }) => `${duplicates}`, align: 'right' },
  {
    title: 'WEBHOOK LAG P50/P95/P99',
    value: (line) => spans([line.delivery_p50_seconds, line.delivery_p95_seconds, line.delivery_p99_seconds]),
  },
  {
    title: 'TIME TO SETTLE P50/P95/P99',
    value: (line) => spans([line.settle_p50_seconds, line.settle_p95_seconds, line.settle_p99_seconds]),
  },
  { title: 'FEE', value: ({ fee_share: share }) => percent(share), align: 'right' },
  {
    title: 'RATE',
    value: ({ delivered_per_paid: rate }) => rate?.slice(0, 10) ?? '',
    align: 'right',
  },
]

/** Truncated, so that only a complete ratio shows as 100 %. */
function percent(ratio: string | null): string {
  return ratio === null ? '' : `${Math.trunc(Number(ratio) * 10_000) / 100} %`
}

function spans(seconds: readonly (number | null)[]): string {
  return seconds.every((one) => one === null) ? '' : seconds.map((one) => spanText(one ?? 0)).join(' / ')
}

function spanText(seconds: number): string {
  return seconds < 10 ? `${seconds.toFixed(2)} s` : duration(seconds)
}
