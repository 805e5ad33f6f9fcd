import { noBounds, type Panel, type Row, worseFrom } from '../build/panel.ts'
import { isChosen } from '../build/sql.ts'

const chosen = `${isChosen('network', 'network')}
  and ${isChosen('owner_id', 'owner')}
  and ${isChosen('asset_symbol', 'asset')}`

const byAge: Panel = {
  title: 'In transit, by age',
  kind: 'table',
  description:
    'What is final at deposit addresses and not delivered, by how long; each age without those before it. The sum of all is the balance of assets:in_transit. Exact, in units of the asset.',
  runbook: 'settlement_missing',
  docs: 'accounting.md#open-in-transit-by-age',
  unit: 'short',
  queries: [
    {
      sql: `select bucket as age, network, asset_symbol as asset, count(*) as deposits, sum(amount)::text as amount
from accounting.in_transit_age
where ${chosen}
group by bucket, from_age, network, asset_symbol, accounting.in_transit_age.asset
order by from_age desc, network, asset_symbol`,
    },
  ],
  thresholds: noBounds,
  columns: { amount: 'string' },
  width: 10,
  height: 9,
}

const oldest: Panel = {
  title: 'In transit the longest',
  kind: 'table',
  description:
    'The fifty oldest: "bin/depositd deposits show ID" has the evidence and the journals of each. Orange after an hour, red after a day.',
  runbook: 'depositdsettlementoverdue',
  docs: 'case-work.md#looking',
  unit: 'short',
  queries: [
    {
      sql: `select deposit_id as id, owner_id as owner, state, network, asset_symbol as asset, amount::text as amount, since,
  date_part('epoch', age) as age
from accounting.in_transit_age
where ${chosen}
order by accounting.in_transit_age.age desc limit 50`,
    },
  ],
  thresholds: worseFrom(3600, 86_400),
  columns: { id: 'none', amount: 'string', age: 's' },
  colored: ['age'],
  width: 14,
  height: 9,
}

export const transitRow: Row = { title: 'What is under way', panels: [byAge, oldest] }

const tieOut: Panel = {
  title: 'In transit, tied to the chain',
  kind: 'table',
  description:
    'From what the books have in transit to the balances that were proved of the deposit addresses, summed by asset: what stands before balance adds up to it, difference included. Exact.',
  runbook: 'depositdledgeruntied',
  docs: 'accounting.md#in-transit-tied-to-the-chain',
  unit: 'short',
  queries: [
    {
      sql: `select network, asset_symbol as asset, count(*) as addresses, sum(in_transit)::text as in_transit,
  sum(out_of_transit)::text as out_of_transit, sum(not_booked)::text as not_booked, sum(outside)::text as outside,
  sum(opening)::text as opening, sum(moved)::text as moved, sum(unexplained)::text as unexplained,
  sum(difference)::text as difference, sum(balance)::text as balance
from accounting.tie_out
where ${chosen}
group by network, asset_symbol, accounting.tie_out.asset
order by network, asset_symbol`,
    },
  ],
  thresholds: noBounds,
  columns: {
    in_transit: 'string',
    out_of_transit: 'string',
    not_booked: 'string',
    outside: 'string',
    opening: 'string',
    moved: 'string',
    unexplained: 'string',
    difference: 'string',
    balance: 'string',
  },
  width: 24,
  height: 7,
}

const differences: Panel = {
  title: 'Addresses that do not tie',
  kind: 'table',
  description:
    'Each is a ledger_imbalance, or becomes one with the next audit. Empty is good. An address whose balance was never proved has no balance and no height.',
  runbook: 'ledger_imbalance',
  docs: 'mismatches.md#ledger_imbalance',
  unit: 'short',
  queries: [
    {
      sql: `select network, address, owner_id as owner, asset_symbol as asset, height, checked_at, in_transit::text as in_transit,
  balance::text as balance, difference::float8 as difference
from accounting.tie_out
where difference_base <> 0
  and ${chosen}
order by network, address limit 100`,
    },
  ],
  thresholds: [{ from: null, color: 'red' }],
  columns: { height: 'none', in_transit: 'string', balance: 'string', difference: 'locale' },
  colored: ['difference'],
  signed: true,
  width: 24,
  height: 6,
}

export const tieRow: Row = {
  title: 'Tied to the chain',
  panels: [tieOut, differences],
  folded: true,
}
