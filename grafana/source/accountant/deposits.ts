import { noBounds, type Panel, type Row } from '../build/panel.ts'
import { isChosen } from '../build/sql.ts'

const chosen = `$__timeFilter(day)
  and ${isChosen('network', 'network')}
  and ${isChosen('owner_id', 'owner')}
  and ${isChosen('asset_symbol', 'asset')}`

const time = "day::timestamp at time zone 'UTC' as time"
const asset = "asset_symbol || ' on ' || network as metric"

const perDay: Panel = {
  title: 'Deposits a day',
  kind: 'timeseries',
  description: 'How many payments were final, by asset. A day is one of UTC, and that on which it happened.',
  runbook: 'first-looks',
  docs: 'accounting.md#daily-deposits-by-channel',
  unit: 'short',
  queries: [
    {
      sql: `select ${time}, ${asset}, sum(deposits)::float8 as deposits
from accounting.daily_totals
where ${chosen}
group by 1, 2 order by 1, 2`,
      series: true,
    },
  ],
  thresholds: noBounds,
  stacked: true,
  bars: true,
  signed: true,
  width: 8,
  height: 8,
}

const amounts: Panel = {
  title: 'Paid in a day',
  kind: 'timeseries',
  description:
    'What was paid in finally, by asset, each in its own units: assets are never added up. What was taken back counts for nothing, of the day on which it had happened.',
  runbook: 'first-looks',
  docs: 'accounting.md#daily-deposits-by-channel',
  unit: 'locale',
  queries: [
    {
      sql: `select ${time}, ${asset}, sum(amount)::float8 as amount
from accounting.daily_totals
where ${chosen}
group by 1, 2 order by 1, 2`,
      series: true,
    },
  ],
  thresholds: noBounds,
  bars: true,
  signed: true,
  width: 8,
  height: 8,
}

const settled: Panel = {
  title: 'Delivered a day',
  kind: 'timeseries',
  description:
    'What left transit by proved deliveries, by the asset that was paid, of the day of the delivery, in units of each asset.',
  runbook: 'settlement_missing',
  docs: 'accounting.md#journals',
  unit: 'locale',
  queries: [
    {
      sql: `select ${time}, ${asset}, sum(settled)::float8 as settled
from accounting.daily_totals
where ${chosen}
group by 1, 2 order by 1, 2`,
      series: true,
    },
  ],
  thresholds: noBounds,
  bars: true,
  signed: true,
  width: 8,
  height: 8,
}

const daily: Panel = {
  title: 'Day by day, by owner',
  kind: 'table',
  description:
    'One row per day, owner and asset, the newest 500: what came in, what of it came unclaimed and was not claimed by the service since, what was delivered, and what left transit otherwise. Exact, in units of the asset.',
  runbook: 'first-looks',
  docs: 'accounting.md#daily-deposits-by-channel',
  unit: 'short',
  queries: [
    {
      sql: `select to_char(day, 'YYYY-MM-DD') as day, owner_kind, owner_id as owner, network, asset_symbol as asset, deposits,
  amount::text as amount, unclaimed::text as unclaimed, settlements, settled::text as settled, otherwise::text as otherwise
from accounting.daily_totals
where ${chosen}
order by accounting.daily_totals.day desc, owner_id, network, asset_symbol limit 500`,
    },
  ],
  thresholds: noBounds,
  columns: { amount: 'string', unclaimed: 'string', settled: 'string', otherwise: 'string' },
  width: 24,
  height: 10,
}

export const depositRow: Row = { title: 'What came in', panels: [perDay, amounts, settled, daily] }
