import { noBounds, orangeFrom, type Panel, type Row } from '../build/panel.ts'
import { isChosen, networkOfAsset } from '../build/sql.ts'

const trialBalance: Panel = {
  title: 'Trial balance at the end of the chosen time',
  kind: 'table',
  description:
    'Each account and asset, with all that was ever debited and credited until then; per asset the balances sum to zero. Exact, in units of the asset.',
  runbook: 'depositdledgerimbalance',
  docs: 'accounting.md#trial-balance-at-a-moment',
  unit: 'short',
  queries: [
    {
      sql: `select account, code, ${networkOfAsset} as network, asset_symbol as asset, debit::text as debit,
  credit::text as credit, balance::text as balance
from accounting.trial_balance($__timeTo()) as tb
where (debit_base <> 0 or credit_base <> 0)
  and ${isChosen("split_part(tb.asset, '/', 1)", 'network')}
  and ${isChosen('asset_symbol', 'asset')}
order by 3, 4, 1`,
    },
  ],
  thresholds: noBounds,
  columns: { debit: 'string', credit: 'string', balance: 'string' },
  width: 14,
  height: 10,
}

const owed: Panel = {
  title: 'What is owed',
  kind: 'table',
  description:
    'Balances of liabilities now, the greatest first of each asset: to whom deposits are owed, and what stands in suspense. Exact, in units of the asset.',
  runbook: 'unreported',
  docs: 'accounting.md#whose-money-it-is',
  unit: 'short',
  queries: [
    {
      sql: `select account, ${networkOfAsset} as network, asset_symbol as asset, (-balance)::text as owed
from accounting.balances as b
where account like 'liabilities:%' and balance_base <> 0
  and ${isChosen("split_part(b.asset, '/', 1)", 'network')}
  and ${isChosen("split_part(account, ':', 4)", 'owner')}
  and ${isChosen('asset_symbol', 'asset')}
order by 2, 3, balance_base limit 500`,
    },
  ],
  thresholds: noBounds,
  columns: { owed: 'string' },
  width: 10,
  height: 10,
}

export const bookRow: Row = { title: 'What the books say', panels: [trialBalance, owed] }

const months: Panel = {
  title: 'Months',
  kind: 'table',
  description:
    'Each month of the books: open, soft-closed or closed, by whom, and the SHA-256 of the trial balance that was frozen.',
  runbook: 'first-looks',
  docs: 'periods.md#closing',
  unit: 'short',
  queries: [
    {
      sql: `select to_char(period, 'YYYY-MM') as month, state, journals, late_journals, reopened, severe_open, closed_at, closed_by,
  approved_by, left(sha256, 16) as sha256
from accounting.periods order by period desc limit 36`,
    },
  ],
  thresholds: orangeFrom(1),
  columns: { severe_open: 'none', reopened: 'none' },
  colored: ['severe_open', 'reopened'],
  width: 12,
  height: 8,
}

const history: Panel = {
  title: 'Closed and reopened',
  kind: 'table',
  description: 'Who closed a month, or opened it again, and why. It is only ever added to.',
  runbook: 'first-looks',
  docs: 'periods.md#closing',
  unit: 'short',
  queries: [
    {
      sql: `select at, to_char(period, 'YYYY-MM') as month, action, actor, approved_by, reason, forced
from accounting.period_history order by at desc limit 50`,
    },
  ],
  thresholds: noBounds,
  width: 12,
  height: 8,
}

const late: Panel = {
  title: 'Late journals',
  kind: 'table',
  description:
    'What was written in the chosen time of a month that was closed by then: it stands in the books of a later one.',
  runbook: 'first-looks',
  docs: 'periods.md#what-is-late',
  unit: 'short',
  queries: [
    {
      sql: `select journal_id as journal, kind, deposit_id as deposit, to_char(belongs_to, 'YYYY-MM') as belongs_to,
  to_char(period, 'YYYY-MM') as stands_in, event_at, recorded_at
from accounting.late_items where $__timeFilter(recorded_at)
order by recorded_at desc limit 100`,
    },
  ],
  thresholds: noBounds,
  columns: { journal: 'none', deposit: 'none' },
  width: 12,
  height: 7,
}

const byHand: Panel = {
  title: 'Journals by hand',
  kind: 'table',
  description: 'What people booked in the chosen time, why, and who agreed; and reversals of it.',
  runbook: 'first-looks',
  docs: 'journals-by-hand.md#journals-by-hand',
  unit: 'short',
  queries: [
    {
      sql: `select journal_id as journal, event_at, recorded_at, reason, made_by, approved_by, reverses, reversed_by
from accounting.manual_journals where $__timeFilter(recorded_at)
order by recorded_at desc limit 100`,
    },
  ],
  thresholds: noBounds,
  columns: { journal: 'none', reverses: 'none', reversed_by: 'none' },
  width: 12,
  height: 7,
}

export const monthRow: Row = { title: 'Months', panels: [months, history, late, byHand] }
