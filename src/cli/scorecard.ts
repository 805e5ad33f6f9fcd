import { scorecardColumns } from '../presentation/lists.ts'
import { readScorecard, type ScorecardLine } from '../store/scorecard.ts'
import { type Context, withDatabase } from './context.ts'
import { checkFilters } from './filters.ts'
import { goOnLine, type ListKeyset, type ListOptions, pageOf } from './lists.ts'
import { timeOf } from './options.ts'
import { print, table } from './print.ts'

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
  const text = services.hasSeveralServices ? partsText(page.items) : table(page.items, scorecardColumns)
  print(context, page, `${page.items.length === 0 ? `${empty}\n` : text}${goOnLine(context, page)}`)
}

function partsText(lines: readonly ScorecardLine[]): string {
  const parts = Map.groupBy(lines, ({ service }) => service)
  return [...parts]
    .map(([service, rows]) => `service ${service}\n${table(rows, scorecardColumns)}`)
    .join('\n')
}

const paging: ListKeyset<ScorecardLine> = {
  list: 'scorecard',
  keyOf: ({ service, asset, settlement_asset: settled }) => [service, asset ?? '', settled ?? ''],
}
