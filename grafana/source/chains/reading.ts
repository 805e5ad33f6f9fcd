import { noBounds, orangeFrom, type Panel, type Row, redFrom, worseFrom } from '../build/panel.ts'
import { quantile } from '../build/promql.ts'

const headLag: Panel = {
  title: 'Head lag',
  kind: 'timeseries',
  description: 'Since each network was last read on. Red as the alert.',
  runbook: 'depositdchainnotread',
  docs: 'chains.md#what-is-read',
  unit: 's',
  queries: [
    {
      expr: 'max by (network) (depositd_chain_head_lag_seconds{network=~"$network"})',
      legend: '{{network}}',
    },
  ],
  thresholds: worseFrom(30, 120),
  width: 8,
  height: 8,
}

const notFinal: Panel = {
  title: 'Blocks not final yet',
  kind: 'timeseries',
  description:
    'Newest height the node knew, less the height read as final (slots on Solana). Grows while finality stalls: waiting is no fault of ours.',
  runbook: 'depositdfinalityoverdue',
  docs: 'settings.md#finality',
  unit: 'short',
  queries: [
    {
      expr: 'max by (network) (depositd_chain_scanned_block{network=~"$network"}) - max by (network) (depositd_chain_final_block{network=~"$network"})',
      legend: '{{network}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const advance: Panel = {
  title: 'Final heights a second',
  kind: 'timeseries',
  description:
    'How fast the height up to which everything final was read goes on, over 15 minutes. At zero the network, or its reading, stands still.',
  runbook: 'depositdchainstalled',
  docs: 'chains.md#what-is-read',
  unit: 'ops',
  queries: [
    {
      expr: 'max by (network) (deriv(depositd_chain_final_block{network=~"$network"}[15m]))',
      legend: '{{network}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const finalBlock: Panel = {
  title: 'Final height',
  kind: 'stat',
  description: 'Height (slot on Solana) up to which everything final was read. It only ever rises.',
  runbook: 'depositdchainstalled',
  docs: 'chains.md#what-is-read',
  unit: 'none',
  queries: [
    {
      expr: 'max by (network) (depositd_chain_final_block{network=~"$network"})',
      legend: '{{network}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const finality: Panel = {
  title: 'Payment to final, p95',
  kind: 'timeseries',
  description:
    "From the block of a payment to its being read as final, over the last hour: the chain's own time, and ours to read it.",
  runbook: 'depositdfinalityoverdue',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: quantile(0.95, {
        of: 'depositd_stage_lag_seconds_bucket{stage="finality",network=~"$network"}',
        by: 'network',
        over: '1h',
      }),
      legend: '{{network}}',
      exemplars: true,
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const notSeen: Panel = {
  title: 'Oldest payment not final, or not seen',
  kind: 'timeseries',
  description:
    'For how long the oldest payment that was seen has not been final, and the oldest that was told of has not been seen on its chain. Orange as the alerts.',
  runbook: 'depositdchaindetectionoverdue',
  docs: 'metrics.md#stages',
  unit: 's',
  queries: [
    {
      expr: 'max by (stage, network) (depositd_stage_oldest_open_seconds{stage=~"finality|chain_detection",network=~"$network"}) or on (network) 0 * max by (network) (depositd_chain_final_block{network=~"$network"})',
      legend: '{{network}}, {{stage}}',
    },
  ],
  thresholds: orangeFrom(3600),
  width: 8,
  height: 8,
}

export const readingRow: Row = {
  title: 'Head and finality',
  panels: [headLag, notFinal, advance, finalBlock, finality, notSeen],
}

const gaps: Panel = {
  title: 'Heights not read',
  kind: 'timeseries',
  description:
    'Heights that were not read for some watched addresses, such as the history of new ones. They are read in the background; a range that stays becomes a mismatch coverage_gap.',
  runbook: 'depositdcoveragegap',
  docs: 'chains.md#what-is-read',
  unit: 'short',
  queries: [
    {
      expr: 'max by (network) (depositd_chain_unread_heights{network=~"$network"})',
      legend: '{{network}}',
    },
    {
      expr: 'max by (network) (depositd_chain_coverage_gaps{network=~"$network"})',
      legend: '{{network}}, ranges',
    },
  ],
  thresholds: orangeFrom(1),
  width: 8,
  height: 8,
}

const reorgs: Panel = {
  title: 'Reorganisations below finality',
  kind: 'timeseries',
  description:
    'Times since the daemon started that history read as final had changed. Should stay at zero: what was booked of it is withdrawn and read again.',
  runbook: 'depositdreorgbelowfinality',
  docs: 'mismatches.md#orphaned_after_booking',
  unit: 'short',
  queries: [
    {
      expr: 'sum by (network) (depositd_chain_reorgs_total{network=~"$network"}) or 0 * max by (network) (depositd_chain_final_block{network=~"$network"})',
      legend: '{{network}}',
    },
  ],
  thresholds: redFrom(1),
  width: 8,
  height: 8,
}

const mismatches: Panel = {
  title: 'Open mismatches about chains',
  kind: 'timeseries',
  description:
    'What nodes told differently, what was not read, what came back in another block or not at all, and balances that nothing explains. Each kind has a section in the runbook.',
  runbook: 'depositdrpcdisagreement',
  docs: 'mismatches.md#chain',
  unit: 'short',
  queries: [
    {
      expr: 'sum by (kind) (max by (kind, service, network) (depositd_mismatches_open{kind=~"rpc_disagreement|coverage_gap|history_lost|orphaned_after_booking|unexplained_balance|unknown_outflow|tx_failed",network=~"$network|"}))',
      legend: '{{kind}}',
    },
    {
      expr: 'sum by (network) (increase(depositd_chain_logs_passed_over_total{network=~"$network"}[1h]))',
      legend: 'logs passed over on {{network}} within an hour',
    },
  ],
  thresholds: redFrom(1),
  width: 8,
  height: 8,
}

export const wholeRow: Row = {
  title: 'Is everything read, once and for all?',
  panels: [gaps, reorgs, mismatches],
}
