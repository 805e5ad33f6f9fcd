import type { Row } from './panel.ts'

export const pipelineRow: Row = {
  title: 'Intake and queue',
  panels: [
    {
      title: 'Webhooks by outcome',
      kind: 'timeseries',
      description:
        'bad_signature: wrong secret or a stranger. overloaded, unavailable: not stored, the sender has to repeat. docs/runbook.md#depositdwebhooksrefused',
      unit: 'reqps',
      queries: [
        {
          expr: 'sum by (outcome) (rate(depositd_webhook_requests_total[$__rate_interval]))',
          legend: '{{outcome}}',
        },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Webhook answer, p50 and p99',
      kind: 'timeseries',
      description: 'From a request to its answer, commit included. Some senders give up after half a second.',
      unit: 's',
      queries: ['0.5', '0.99'].map((quantile) => ({
        expr: `histogram_quantile(${quantile}, sum by (le) (rate(depositd_webhook_ack_seconds_bucket[$__rate_interval])))`,
        legend: `p${Number(quantile) * 100}`,
      })),
      thresholds: [
        { from: null, color: 'green' },
        { from: 0.1, color: 'orange' },
        { from: 0.5, color: 'red' },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Settings of webhooks',
      kind: 'timeseries',
      description:
        'unsigned is 1 while webhooks are taken without a signature. used and refused: changes of secrets and scheme within 15 minutes.',
      unit: 'short',
      queries: [
        { expr: 'max(depositd_webhooks_unsigned)', legend: 'unsigned' },
        {
          expr: 'sum by (outcome) (increase(depositd_webhook_settings_total[15m]))',
          legend: '{{outcome}}',
        },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Failed runs of jobs within 15 minutes',
      kind: 'timeseries',
      description:
        'Each runs again by itself; one that keeps failing needs a look: docs/runbook.md#depositdjobfailing',
      unit: 'short',
      queries: [{ expr: 'sum by (name) (increase(depositd_job_failures_total[15m]))', legend: '{{name}}' }],
      width: 6,
      height: 8,
    },
    {
      title: 'Inbox: pending',
      kind: 'timeseries',
      description: 'Observations stored and not applied yet. A burst drains within seconds.',
      unit: 'short',
      queries: [{ expr: 'max(depositd_inbox_pending)', legend: 'pending' }],
      width: 6,
      height: 8,
    },
    {
      title: 'Inbox: oldest',
      kind: 'timeseries',
      description:
        'Age of the oldest observation not applied yet. From a minute on the daemon is unready: docs/runbook.md#depositdinboxnotdrained',
      unit: 's',
      queries: [{ expr: 'max(depositd_inbox_oldest_seconds)', legend: 'oldest' }],
      thresholds: [
        { from: null, color: 'green' },
        { from: 10, color: 'orange' },
        { from: 60, color: 'red' },
      ],
      width: 6,
      height: 8,
    },
    {
      title: 'Queue jobs',
      kind: 'timeseries',
      description: 'Wake-ups in the queue by state. Work waiting while nothing is active: no worker runs.',
      unit: 'short',
      queries: [{ expr: 'max by (state) (depositd_queue_jobs{state!="completed"})', legend: '{{state}}' }],
      width: 6,
      height: 8,
    },
    {
      title: 'Quarantine',
      kind: 'timeseries',
      description:
        'Deliveries that failed verification. kept: they wait for a person. dropped: too many of one sender within 15 minutes. docs/runbook.md#depositdwebhooksrefused',
      unit: 'short',
      queries: [
        { expr: 'max(depositd_quarantine_deliveries)', legend: 'kept' },
        { expr: 'sum(increase(depositd_quarantine_dropped_total[15m]))', legend: 'dropped' },
      ],
      width: 6,
      height: 8,
    },
  ],
}

export const chainRow: Row = {
  title: 'Chains',
  panels: [
    {
      title: 'Head lag',
      kind: 'timeseries',
      description:
        'Since each network was last read on. Red as the alert: docs/runbook.md#depositdchainnotread',
      unit: 's',
      queries: [
        {
          expr: 'max by (network) (depositd_chain_head_lag_seconds{network=~"$network"})',
          legend: '{{network}}',
        },
      ],
      thresholds: [
        { from: null, color: 'green' },
        { from: 30, color: 'orange' },
        { from: 120, color: 'red' },
      ],
      width: 8,
      height: 8,
    },
    {
      title: 'Final block',
      kind: 'stat',
      description: 'Height (slot on Solana) up to which everything final was read. It only ever rises.',
      unit: 'none',
      queries: [
        {
          expr: 'max by (network) (depositd_chain_final_block{network=~"$network"})',
          legend: '{{network}}',
        },
      ],
      width: 8,
      height: 8,
    },
    {
      title: 'Blocks not final yet',
      kind: 'timeseries',
      description:
        'Newest height the node knew, less the height read as final. Grows while finality stalls: waiting is no fault of ours.',
      unit: 'short',
      queries: [
        {
          expr: 'max by (network) (depositd_chain_scanned_block{network=~"$network"}) - max by (network) (depositd_chain_final_block{network=~"$network"})',
          legend: '{{network}}',
        },
      ],
      width: 8,
      height: 8,
    },
    {
      title: 'RPC errors',
      kind: 'timeseries',
      description: 'Share of requests to nodes that did not end well.',
      unit: 'percentunit',
      queries: [{ expr: rpcErrorShare('network=~"$network"'), legend: '{{network}}' }],
      thresholds: [
        { from: null, color: 'green' },
        { from: 0.05, color: 'orange' },
        { from: 0.5, color: 'red' },
      ],
      width: 8,
      height: 8,
    },
    {
      title: 'RPC latency, p95',
      kind: 'timeseries',
      description: 'What 95 of 100 requests to the nodes of a network took at most.',
      unit: 's',
      queries: [
        {
          expr: 'histogram_quantile(0.95, sum by (le, network) (rate(depositd_rpc_seconds_bucket{network=~"$network"}[$__rate_interval])))',
          legend: '{{network}}',
        },
      ],
      width: 8,
      height: 8,
    },
    {
      title: 'Reorganisations below finality',
      kind: 'timeseries',
      description:
        'Times since the daemon started that history read as final had changed. Should stay at zero: docs/runbook.md#depositdreorgbelowfinality',
      unit: 'short',
      queries: [
        {
          expr: 'sum by (network) (depositd_chain_reorgs_total{network=~"$network"}) or 0 * max by (network) (depositd_chain_final_block{network=~"$network"})',
          legend: '{{network}}',
        },
      ],
      thresholds: [
        { from: null, color: 'green' },
        { from: 1, color: 'red' },
      ],
      width: 8,
      height: 8,
    },
    {
      title: 'Node scores',
      kind: 'timeseries',
      description:
        'How well each node does: 1 answers at once and never fails. One that is not asked keeps its last score.',
      unit: 'percentunit',
      queries: [
        {
          expr: 'min by (network, node) (depositd_rpc_node_score{network=~"$network"})',
          legend: '{{network}} {{node}}',
        },
      ],
      width: 12,
      height: 8,
    },
    {
      title: 'Heights not read',
      kind: 'timeseries',
      description:
        'Stretches of heights that were not read for some watched addresses. They close by themselves: docs/runbook.md#coverage_gap',
      unit: 'short',
      queries: [
        {
          expr: 'max by (network) (depositd_chain_coverage_gaps{network=~"$network"})',
          legend: '{{network}}',
        },
      ],
      width: 12,
      height: 8,
    },
  ],
}

/** Where nothing ever failed there is no series to divide, hence the zero of the same networks. */
function rpcErrorShare(networks: string): string {
  const all = `sum by (network) (rate(depositd_rpc_requests_total{${networks}}[$__rate_interval]))`
  const failed = `sum by (network) (rate(depositd_rpc_requests_total{outcome!="ok",${networks}}[$__rate_interval]))`
  return `(${failed} or 0 * ${all}) / ${all}`
}
