import { counter, gauge, histogram, requestBuckets } from './declare.ts'
import { assets, networks, nodes, rpcMethods } from './label-values.ts'

const ofNetwork = { labels: { network: networks } }

export const ofChains = {
  chainHeadLag: gauge('chain_head_lag_seconds', 'Since the network was last read to its end.', ofNetwork),
  chainFinalBlock: gauge('chain_final_block', 'Height up to which everything final was read.', {
    ...ofNetwork,
    unit: 'height',
  }),
  chainScannedBlock: gauge('chain_scanned_block', 'Newest height the node knew at the last scan.', {
    ...ofNetwork,
    unit: 'height',
  }),
  chainReorgs: counter('chain_reorgs_total', 'Times that history read as final had changed.', ofNetwork),
  chainLogsPassedOver: counter(
    'chain_logs_passed_over_total',
    'Transfer logs of a watched contract that count for nothing: not two addresses (`topics`), not one number (`data`), or a field is missing (`fields`).',
    { labels: { network: networks, reason: ['topics', 'data', 'fields'] } },
  ),
  chainCoverageGaps: gauge(
    'chain_coverage_gaps',
    'Block ranges that were not read for some watched addresses.',
    ofNetwork,
  ),
  unexplainedBalance: gauge(
    'unexplained_balance',
    'What balances of deposit addresses changed by beyond what is known, in units of the asset; approximate.',
    { labels: { network: networks, asset: assets }, unit: 'units' },
  ),
  rpcRequests: counter('rpc_requests_total', 'Requests to nodes by how they ended.', {
    labels: { network: networks, method: rpcMethods, outcome: ['ok', 'error'] },
  }),
  rpcNodeRequests: counter('rpc_node_requests_total', 'Requests to each node by how they ended.', {
    labels: { network: networks, node: nodes, outcome: ['ok', 'error'] },
  }),
  rpcNodeScore: gauge(
    'rpc_node_score',
    'How well a node does: 1 answers at once and never fails. Those that are not asked keep their last one.',
    { labels: { network: networks, node: nodes }, unit: 'ratio' },
  ),
  rpcSeconds: histogram('rpc_seconds', 'Duration of requests to nodes.', {
    labels: { network: networks, method: rpcMethods },
    buckets: requestBuckets,
  }),
}
