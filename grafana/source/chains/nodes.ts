import { betterFrom, noBounds, type Panel, type Row, worseFrom } from '../build/panel.ts'
import { quantile } from '../build/promql.ts'

const scores: Panel = {
  title: 'Nodes now',
  kind: 'bargauge',
  description:
    'How well each node does, by the host of its URL: 1 answers at once and never fails. One that is not asked keeps its last score.',
  runbook: 'depositdrpcfailing',
  docs: 'settings.md#several-nodes',
  unit: 'percentunit',
  queries: [
    {
      expr: 'min by (network, node) (depositd_rpc_node_score{network=~"$network"})',
      legend: '{{network}}: {{node}}',
    },
  ],
  thresholds: betterFrom(0.5, 0.8),
  width: 8,
  height: 8,
}

const scoresOverTime: Panel = {
  ...scores,
  title: 'Nodes over time',
  kind: 'timeseries',
  width: 8,
}

const byNode: Panel = {
  title: 'Errors by node',
  kind: 'timeseries',
  description:
    'Share of requests to each node, by the host of its URL, that did not end well. One node that fails is left alone for a while; all of a network, and nothing is read.',
  runbook: 'depositdrpcfailing',
  docs: 'settings.md#several-nodes',
  unit: 'percentunit',
  queries: [
    {
      expr: errorShare({ metric: 'depositd_rpc_node_requests_total', by: 'network, node' }),
      legend: '{{network}}: {{node}}',
    },
  ],
  thresholds: worseFrom(0.05, 0.5),
  width: 8,
  height: 8,
}

const errors: Panel = {
  title: 'RPC errors',
  kind: 'timeseries',
  description: 'Share of requests to nodes that did not end well. Above half, as the alert.',
  runbook: 'depositdrpcfailing',
  docs: 'settings.md#several-nodes',
  unit: 'percentunit',
  queries: [
    { expr: errorShare({ metric: 'depositd_rpc_requests_total', by: 'network' }), legend: '{{network}}' },
  ],
  thresholds: worseFrom(0.05, 0.5),
  width: 8,
  height: 8,
}

const requests: Panel = {
  title: 'RPC requests by method',
  kind: 'timeseries',
  description: 'Requests to nodes. Providers limit and bill them; benchmarks say what to expect.',
  runbook: 'depositdrpcfailing',
  docs: 'internals/benchmarks.md#chain-chain-solana',
  unit: 'reqps',
  queries: [
    {
      expr: 'sum by (network, method) (rate(depositd_rpc_requests_total{network=~"$network"}[$__rate_interval]))',
      legend: '{{network}} {{method}}',
    },
  ],
  thresholds: noBounds,
  width: 8,
  height: 8,
}

const latency: Panel = {
  title: 'RPC latency, p95',
  kind: 'timeseries',
  description: 'What 95 of 100 requests to the nodes of a network took at most.',
  runbook: 'depositdrpcfailing',
  docs: 'settings.md#several-nodes',
  unit: 's',
  queries: [
    {
      expr: quantile(0.95, {
        of: 'depositd_rpc_seconds_bucket{network=~"$network"}',
        by: 'network',
        over: '$__rate_interval',
      }),
      legend: '{{network}}',
    },
  ],
  thresholds: worseFrom(1, 5),
  width: 8,
  height: 8,
}

const slowest: Panel = {
  title: 'Methods by time',
  kind: 'table',
  description: 'Of the last hour: how many requests of each method, and what one took on average.',
  runbook: 'depositdchainnotread',
  docs: 'internals/benchmarks.md#chain-chain-solana',
  unit: 'short',
  queries: [
    {
      expr: 'sum by (network, method) (increase(depositd_rpc_seconds_count{network=~"$network"}[1h])) > 0',
      legend: 'requests',
    },
    {
      expr: 'sum by (network, method) (increase(depositd_rpc_seconds_sum{network=~"$network"}[1h])) / (sum by (network, method) (increase(depositd_rpc_seconds_count{network=~"$network"}[1h])) > 0)',
      legend: 'average',
    },
  ],
  thresholds: worseFrom(1, 5),
  columns: { requests: 'short', average: 's' },
  colored: ['average'],
  width: 16,
  height: 8,
}

export const nodesRow: Row = {
  title: 'Nodes',
  panels: [scores, scoresOverTime, byNode, errors, latency, requests, slowest],
}

/** Where nothing ever failed there is no series to divide, hence the zero of the same labels. */
function errorShare({ metric, by }: { metric: string; by: string }): string {
  const rateOf = (outcomes: string) =>
    `sum by (${by}) (rate(${metric}{network=~"$network"${outcomes}}[$__rate_interval]))`
  return `(${rateOf(',outcome!="ok"')} or 0 * ${rateOf('')}) / (${rateOf('')} > 0)`
}
