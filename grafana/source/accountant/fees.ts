import { noBounds, type Panel, type Row, worseFrom } from '../build/panel.ts'
import { isChosen } from '../build/sql.ts'

const chosen = `${isChosen('network', 'network')}
  and ${isChosen('owner_id', 'owner')}
  and ${isChosen('asset_symbol', 'asset')}`

const feesPerDay: Panel = {
  title: 'Fees a day',
  kind: 'timeseries',
  description:
    "The service's fees, in units of the asset they were taken in, of the day of the delivery (UTC).",
  runbook: 'fee_out_of_band',
  docs: 'accounting.md#fees-by-route',
  unit: 'locale',
  queries: [
    {
      sql: `select date_trunc('day', event_at, 'UTC') as time,
  settlement_asset_symbol || ' on ' || settlement_network as metric, sum(fee)::float8 as fee
from accounting.fees
where $__timeFilter(event_at)
  and ${chosen}
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

const feesByRoute: Panel = {
  title: 'Fees by route',
  kind: 'table',
  description:
    'Of the chosen time: what was paid and delivered, and the fee, by where money came in and where it went. A reversal takes its fee back. Exact, in units of each asset.',
  runbook: 'fee_out_of_band',
  docs: 'accounting.md#fees-by-route',
  unit: 'short',
  queries: [
    {
      sql: `select asset_symbol || ' on ' || network as paid, settlement_asset_symbol || ' on ' || settlement_network as delivered,
  count(*) as deposits, sum(amount)::text as amount, sum(settlement_amount)::text as settled, sum(fee)::text as fee
from accounting.fees
where $__timeFilter(event_at)
  and ${chosen}
group by 1, 2, asset, settlement_asset order by 1, 2`,
    },
  ],
  thresholds: noBounds,
  columns: { amount: 'string', settled: 'string', fee: 'string' },
  width: 8,
  height: 8,
}

const conversion: Panel = {
  title: 'Conversion',
  kind: 'table',
  description:
    'Of the chosen time: what was paid, and what it became before the fee, with the difference of both values where a currency and prices are set. Exact.',
  runbook: 'settlement_short',
  docs: 'accounting.md#realised-difference-of-conversions',
  unit: 'short',
  queries: [
    {
      sql: `select paid_asset_symbol as paid_in, delivered_asset_symbol as delivered_in, count(*) as deposits, sum(paid)::text as paid,
  sum(delivered)::text as delivered, round(sum(difference), 2)::text as difference, max(currency) as currency
from accounting.conversion
where $__timeFilter(settled_at)
  and ${isChosen("split_part(paid_asset, '/', 1)", 'network')}
  and ${isChosen('owner_id', 'owner')}
  and ${isChosen('paid_asset_symbol', 'asset')}
group by paid_asset, paid_asset_symbol, delivered_asset, delivered_asset_symbol
order by 1, 2`,
    },
  ],
  thresholds: noBounds,
  columns: { paid: 'string', delivered: 'string', difference: 'string' },
  width: 8,
  height: 8,
}

export const feeRow: Row = { title: 'Fees and conversion', panels: [feesPerDay, feesByRoute, conversion] }

const openItems = `${isChosen('network', 'network')}
  and ${isChosen('asset_symbol', 'asset')}`

const ageing: Panel = {
  title: 'Open mismatches, by age',
  kind: 'table',
  description:
    'What is open, by how long, with what is at stake, each transfer once; each age without those before it. Exact, in units of the asset. Of all networks.',
  runbook: 'mismatches',
  docs: 'accounting.md#how-long-it-has-been-open-and-what-may-be-lost',
  unit: 'short',
  queries: [
    {
      sql: `select bucket as age, severity, kind, mismatches, asset_symbol as asset, amount::text as amount
from accounting.mismatch_ageing
where ${isChosen('asset_symbol', 'asset')}
order by from_age desc, array_position(array['severe', 'warning', 'info'], severity), kind`,
    },
  ],
  thresholds: noBounds,
  columns: { amount: 'string' },
  width: 10,
  height: 9,
}

const severe: Panel = {
  title: 'Severe and open',
  kind: 'table',
  description:
    'The oldest hundred: "bin/depositd mismatches show ID" says what to do next. Orange after an hour, red after a day.',
  runbook: 'depositdseveremismatch',
  docs: 'case-work.md#working',
  unit: 'short',
  queries: [
    {
      sql: `select id, kind, deposit_id as deposit, network, asset_symbol as asset, amount::text as amount, status, assigned_to,
  opened_at, date_part('epoch', age) as age
from accounting.mismatches
where severity = 'severe' and status in ('open', 'snoozed')
  and ${openItems}
order by opened_at limit 100`,
    },
  ],
  thresholds: worseFrom(3600, 86_400),
  columns: { id: 'none', deposit: 'none', amount: 'string', age: 's' },
  colored: ['age'],
  width: 14,
  height: 9,
}

export const openRow: Row = { title: 'Open items', panels: [ageing, severe] }
