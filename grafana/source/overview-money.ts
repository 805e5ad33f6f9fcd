import type { Row } from './panel.ts'

/** Zero as long as a daemon is scraped, so that "nothing is wrong" and "nobody looks" are told apart. */
const elseZero = 'or 0 * max(depositd_build_info)'

export const moneyRow: Row = {
  title: 'Is money where it should be?',
  panels: [
    {
      title: 'Books',
      kind: 'stat',
      description:
        'Sum of all entries per asset, the worst of them. Anything but zero is an emergency: docs/runbook.md#depositdledgerimbalance',
      unit: 'none',
      queries: [{ expr: `max(abs(depositd_ledger_imbalance)) ${elseZero}`, legend: 'imbalance' }],
      thresholds: [{ from: null, color: 'red' }],
      words: { '0': { text: 'balanced', color: 'green' } },
      width: 4,
      height: 4,
    },
    {
      title: 'Severe mismatches open',
      kind: 'stat',
      description:
        'Each is money that may not be where it should be; "depositd mismatches list" names them: docs/runbook.md#depositdseveremismatch',
      unit: 'short',
      queries: [
        {
          expr: `sum(max by (kind, network) (depositd_mismatches_open{severity="severe",network=~"$network"})) ${elseZero}`,
          legend: 'open',
        },
      ],
      thresholds: [
        { from: null, color: 'green' },
        { from: 1, color: 'red' },
      ],
      width: 4,
      height: 4,
    },
    {
      title: 'Oldest severe mismatch',
      kind: 'stat',
      description: 'Age of the severe mismatch that is open the longest, over all networks.',
      unit: 's',
      queries: [
        { expr: `max(depositd_mismatch_oldest_seconds{severity="severe"}) ${elseZero}`, legend: 'oldest' },
      ],
      thresholds: [
        { from: null, color: 'green' },
        { from: 1, color: 'orange' },
        { from: 3600, color: 'red' },
      ],
      width: 4,
      height: 4,
    },
    {
      title: 'Oldest deposit not reconciled',
      kind: 'stat',
      description:
        'Since its payment was made. Red from two hours on, as the alert: docs/runbook.md#depositdreconciliationoverdue',
      unit: 's',
      queries: [
        {
          expr: `max(depositd_stage_oldest_open_seconds{stage="reconciliation",network=~"$network"}) ${elseZero}`,
          legend: 'oldest',
        },
      ],
      thresholds: [
        { from: null, color: 'green' },
        { from: 3600, color: 'orange' },
        { from: 7200, color: 'red' },
      ],
      width: 4,
      height: 4,
    },
    {
      title: 'Deposits under way',
      kind: 'stat',
      description: 'Deposits that are neither reconciled nor ended. Look at their age, not at their number.',
      unit: 'short',
      queries: [
        {
          expr: `sum(max by (state, network) (depositd_deposits{state=~"observed|confirmed|settling|settled",network=~"$network"})) ${elseZero}`,
          legend: 'under way',
        },
      ],
      width: 4,
      height: 4,
    },
    {
      title: 'Daemons answering',
      kind: 'stat',
      description:
        'Daemons whose metrics were read. At zero, nothing else here is true: docs/runbook.md#depositdabsent',
      unit: 'short',
      queries: [{ expr: 'count(depositd_build_info) or vector(0)', legend: 'daemons' }],
      thresholds: [
        { from: null, color: 'red' },
        { from: 1, color: 'green' },
      ],
      width: 4,
      height: 4,
    },
    {
      title: 'Deposits by state',
      kind: 'timeseries',
      description:
        'All deposits as the evidence stands. What does not move on to reconciled has a mismatch or an age.',
      unit: 'short',
      queries: [
        {
          expr: 'sum by (state) (max by (state, network) (depositd_deposits{network=~"$network"}))',
          legend: '{{state}}',
        },
      ],
      stacked: true,
      width: 12,
      height: 8,
    },
    {
      title: 'Value at risk',
      kind: 'table',
      description:
        'Value under open mismatches, in units of each asset. Approximate, and never added up over assets; the accounting views are exact.',
      unit: 'short',
      queries: [{ expr: 'max by (asset, severity) (depositd_mismatch_value)', legend: 'value' }],
      columns: { value: 'short' },
      width: 6,
      height: 8,
    },
    {
      title: 'Balances that are not explained',
      kind: 'table',
      description:
        'What deposit addresses hold beyond, or short of, all transfers that are known, in units of each asset: docs/runbook.md#unexplained_balance',
      unit: 'short',
      queries: [{ expr: 'max by (network, asset) (depositd_unexplained_balance)', legend: 'value' }],
      columns: { value: 'short' },
      width: 6,
      height: 8,
    },
    {
      title: 'Not sealed yet',
      kind: 'stat',
      description:
        'For how long the oldest journal has waited for its seal; unless it is set otherwise, there is one every ten minutes.',
      unit: 's',
      queries: [{ expr: `max(depositd_ledger_seal_age_seconds) ${elseZero}`, legend: 'oldest' }],
      thresholds: [
        { from: null, color: 'green' },
        { from: 3600, color: 'orange' },
        { from: 86_400, color: 'red' },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Books that do not tie',
      kind: 'table',
      description:
        'What is left in transit of closed deposits, or does not agree with proved balances, in units of each asset: docs/runbook.md#ledger_imbalance',
      unit: 'short',
      queries: [{ expr: 'max by (control, asset) (depositd_ledger_untied)', legend: 'value' }],
      columns: { value: 'short' },
      width: 6,
      height: 8,
    },
  ],
}
