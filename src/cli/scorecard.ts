import { readScorecard, type ScorecardLine } from '../store/scorecard.ts'
import { type Context, withDatabase } from './context.ts'
import { type ListKeyset, type ListOptions, pageOf, printList } from './lists.ts'
import { timeOf } from './options.ts'
import { duration, type TableColumn } from './print.ts'

export async function scorecardCommand(
  context: Context,
  { since, ...options }: ListOptions & { since: string },
): Promise<void> {
  const [from, to] = [timeOf('--since', since, -1), new Date()]
  const rows = await withDatabase(context, (db) => readScorecard(db, { from, to }))
  const shown = rows.filter(({ deposits }) => deposits > 0n)
  const empty = `no deposits since ${from.toISOString()}`
  printList(context, pageOf(shown, options, paging), { columns, empty })
}

const paging: ListKeyset<ScorecardLine> = {
  list: 'scorecard',
  keyOf: ({ asset, settlement_asset: settled }) => [asset ?? '', settled ?? ''],
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
