import { noBounds, orangeFrom, type Panel, type Row, redFrom } from '../build/panel.ts'
import { isChosen } from '../build/sql.ts'

const books: Panel = {
  title: 'Books',
  kind: 'stat',
  description:
    'Assets whose trial balance, of snapshots and of what was booked since, does not sum to zero. Any is an emergency: no figure of it can be trusted.',
  runbook: 'depositdledgerimbalance',
  docs: 'accounting.md#control-totals',
  unit: 'none',
  queries: [
    {
      sql: `select count(*) as assets from (
  select asset from accounting.trial_balance('infinity') group by asset having sum(balance_base) <> 0
) as unbalanced`,
    },
  ],
  thresholds: [{ from: null, color: 'red' }],
  words: { '0': { text: 'balanced', color: 'green' } },
  width: 4,
  height: 4,
}

const untied: Panel = {
  title: 'Tie to the chain',
  kind: 'stat',
  description:
    'What audits found in the books that does not add up, or does not tie to proved balances, and is open. The last row asks anew, of every address, when it is opened.',
  runbook: 'ledger_imbalance',
  docs: 'accounting.md#in-transit-tied-to-the-chain',
  unit: 'short',
  queries: [
    {
      sql: `select count(*) as open from accounting.mismatches
where kind = 'ledger_imbalance' and status in ('open', 'snoozed')`,
    },
  ],
  thresholds: redFrom(1),
  width: 4,
  height: 4,
}

const severe: Panel = {
  title: 'Severe mismatches open',
  kind: 'stat',
  description: 'Money that may not be where it should be. A month with any of them is closed only by force.',
  runbook: 'depositdseveremismatch',
  docs: 'periods.md#closing',
  unit: 'short',
  queries: [
    {
      sql: `select count(*) as open from accounting.mismatches
where severity = 'severe' and status in ('open', 'snoozed') and ${isChosen('network', 'network')}`,
    },
  ],
  thresholds: redFrom(1),
  width: 4,
  height: 4,
}

const inSuspense: Panel = {
  title: 'Assets in suspense',
  kind: 'stat',
  description:
    'Assets of which something stands in suspense now, until the service claims it or people book it elsewhere.',
  runbook: 'unreported',
  docs: 'journals-by-hand.md#suspense-is-cleared',
  unit: 'short',
  queries: [
    {
      sql: `select count(*) as assets from accounting.trial_balance('infinity') as tb
where account = 'liabilities:suspense' and balance_base <> 0 and ${isChosen("split_part(tb.asset, '/', 1)", 'network')}`,
    },
  ],
  thresholds: orangeFrom(1),
  width: 4,
  height: 4,
}

const months: Panel = {
  title: 'Months to close',
  kind: 'stat',
  description: 'Months that are over and still open. One is ordinary until its evidence is in.',
  runbook: 'first-looks',
  docs: 'periods.md#closing',
  unit: 'short',
  queries: [
    {
      sql: `select count(*) as months from accounting.periods
where state = 'open' and period < date_trunc('month', now() at time zone 'UTC')`,
    },
  ],
  thresholds: orangeFrom(2),
  width: 4,
  height: 4,
}

const late: Panel = {
  title: 'Late journals, how many',
  kind: 'stat',
  description:
    'Journals that were written in the chosen time, and happened in a month that was closed: they stand in the books of a later one.',
  runbook: 'first-looks',
  docs: 'periods.md#what-is-late',
  unit: 'short',
  queries: [
    { sql: 'select count(*) as journals from accounting.late_items where $__timeFilter(recorded_at)' },
  ],
  thresholds: noBounds,
  width: 4,
  height: 4,
}

export const todayRow: Row = {
  title: 'As it stands',
  panels: [books, untied, severe, inSuspense, months, late],
}
