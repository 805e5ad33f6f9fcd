import { leastAmount, noBounds, orangeFrom, type Panel, type PromQuery, type Row } from '../build/panel.ts'
import { assetLegend, balanceOf, chosenAssets } from '../build/promql.ts'
import { inTransitPanel } from '../build/shared.ts'

/** What accounts are for, and how the columns are called. */
const accounts = {
  in_transit: 'in transit',
  forwarded: 'forwarded',
  stable_wallet: 'StableWallets',
  receivable: 'receivable',
  deposits: 'owed for deposits',
  suspense: 'suspense',
  trading: 'trading',
  fees: 'fees',
  tolerance: 'tolerance',
  write_off: 'written off',
  other: 'other',
} as const

type AccountClass = keyof typeof accounts

const all: Panel = {
  title: 'Balances',
  kind: 'table',
  description:
    'By what accounts are for, per asset, in its units: debit balances positive, credit balances negative; approximate. Of each line the sum is zero. The exact ones are in the accounting views.',
  runbook: 'depositdledgerimbalance',
  docs: 'accounting.md#chart-of-accounts',
  unit: 'locale',
  queries: ofAccounts(accounts),
  thresholds: noBounds,
  columns: Object.fromEntries(Object.values(accounts).map((words) => [words, 'locale' as const])),
  signed: true,
  width: 24,
  height: 8,
}

/** A row for each asset, a column for each class of accounts. */
function ofAccounts({ in_transit: first, ...others }: typeof accounts): readonly [PromQuery, ...PromQuery[]] {
  const queryOf = (account: AccountClass, legend: string) => ({
    expr: chosenAssets(balanceOf(account)),
    legend,
  })
  const rest = Object.entries(others) as [AccountClass, string][]
  return [queryOf('in_transit', first), ...rest.map(([account, legend]) => queryOf(account, legend))]
}

const suspense: Panel = {
  title: 'Suspense',
  kind: 'timeseries',
  description:
    'What is final on chain and claimed by nobody, in units of each asset. It goes when the service tells of it, or a person decides.',
  runbook: 'unreported',
  docs: 'mismatches.md#unreported',
  unit: 'locale',
  queries: [{ expr: `0 - ${chosenAssets(balanceOf('suspense'))}`, legend: assetLegend }],
  thresholds: orangeFrom(leastAmount),
  signed: true,
  width: 8,
  height: 8,
}

const lost: Panel = {
  title: 'Written off, owed by the service, let go',
  kind: 'timeseries',
  description:
    'What people wrote off, or decided that the service owes, and what deliveries lacked of what was stated, where the policy lets it go. In units of each asset; approximate.',
  runbook: 'settlement_short',
  docs: 'case-work.md#decisions-about-money',
  unit: 'locale',
  queries: [
    { expr: chosenAssets(balanceOf('write_off')), legend: `written off: ${assetLegend}` },
    { expr: chosenAssets(balanceOf('receivable')), legend: `owed by the service: ${assetLegend}` },
    { expr: chosenAssets(balanceOf('tolerance')), legend: `let go: ${assetLegend}` },
  ],
  thresholds: noBounds,
  signed: true,
  width: 8,
  height: 8,
}

export const balanceRow: Row = { title: 'Where money is', panels: [all, inTransitPanel, suspense, lost] }

const fees: Panel = {
  title: 'Fees, 24 hours',
  kind: 'timeseries',
  description:
    'What fees of the service grew by within 24 hours, in units of the asset they were taken in. A reversal takes them back.',
  runbook: 'fee_out_of_band',
  docs: 'policy.md#fees',
  unit: 'locale',
  queries: [
    {
      expr: chosenAssets(
        '(max by (asset) (depositd_ledger_balance{account="fees"}) - (max by (asset) (depositd_ledger_balance{account="fees"} offset 24h) or 0 * max by (asset) (depositd_ledger_balance{account="fees"})))',
      ),
      legend: assetLegend,
    },
  ],
  thresholds: noBounds,
  signed: true,
  width: 12,
  height: 8,
}

const conversion: Panel = {
  title: 'Conversion',
  kind: 'timeseries',
  description:
    'What the trading accounts hold per asset: positive if more was paid than is delivered or owed in it, negative if less. What is owed moves at the delivery, so only conversions of own funds and income remain, and deliveries that are short and not overdue yet.',
  runbook: 'settlement_short',
  docs: 'accounting.md#realised-difference-of-conversions',
  unit: 'locale',
  queries: [{ expr: chosenAssets(balanceOf('trading')), legend: assetLegend }],
  thresholds: noBounds,
  signed: true,
  width: 12,
  height: 8,
}

export const feeRow: Row = { title: 'Fees and conversion', panels: [fees, conversion] }
