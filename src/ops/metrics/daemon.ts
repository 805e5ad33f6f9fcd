import { canaryOutcomes } from '../../core/canary.ts'
import {
  assets,
  calls,
  counter,
  gauge,
  histogram,
  networks,
  nodes,
  type OpenSet,
  requestBuckets,
  rpcMethods,
  services,
} from './declare.ts'

export const jobNames = [
  'apply',
  'scan',
  'backfill',
  'verify',
  'poll',
  'read',
  'sweep',
  'audit',
  'wallets',
  'wallet',
  'prove',
  'seal',
  'deliver',
  'beat',
  'canary',
  'notify',
] as const

export const readingParts = ['live', 'totals', 'scorecard', 'queue'] as const
export type ReadingPart = (typeof readingParts)[number]

export const ofProgram = {
  build: gauge('build_info', 'Always 1; the label names the version.', {
    labels: { version: { set: 'version', upTo: 1 } },
    unit: 'flag',
    ofProcess: true,
  }),
  link: gauge('link_info', 'Always 1; the labels name a page and its address, by which alerts link to it.', {
    labels: { to: ['console', 'dashboards', 'runbook'], url: { set: 'url', upTo: 3 } },
    unit: 'flag',
    ofProcess: true,
  }),
  gaugesReadable: gauge(
    'gauges_readable',
    'Whether the data of a part of the gauges could be read for this answer; if not, its gauges are left out.',
    { labels: { part: readingParts }, unit: 'flag', ofProcess: true },
  ),
  gaugesAge: gauge(
    'gauges_age_seconds',
    'How old what a part of the gauges shows is. What takes long to read is read less often.',
    { labels: { part: readingParts } },
  ),
  queueJobs: gauge('queue_jobs', 'Jobs in the queue.', {
    labels: { state: ['waiting', 'active', 'delayed', 'failed', 'completed'] },
  }),
  beatAge: gauge(
    'beat_age_seconds',
    'Since a scheduler last woke, or a worker last ran, the job that does nothing else than show that they are alive.',
    { labels: { role: ['scheduler', 'worker'] } },
  ),
  jobFailures: counter('job_failures_total', 'Runs of a job that failed.', { labels: { name: jobNames } }),
}

const ofService = { labels: { service: services } }

export const webhookOutcomes = [
  'stored',
  'duplicate',
  'conflicting',
  'canary',
  'bad_signature',
  'bad_timestamp',
  'not_json',
  'too_large',
  'wrong_type',
  'overloaded',
  'unavailable',
  'aborted',
] as const

export const ofIntake = {
  webhooks: counter('webhook_requests_total', 'Webhook requests by how they were answered.', {
    labels: { service: services, outcome: webhookOutcomes },
  }),
  webhooksUnsigned: gauge('webhooks_unsigned', '1 while webhooks are taken without a signature.', {
    ...ofService,
    unit: 'flag',
    ofProcess: true,
  }),
  settingsChanges: counter(
    'settings_changes_total',
    'Changes of the settings of services, by whether they could be used.',
    { labels: { outcome: ['used', 'refused'] } },
  ),
  webhookAck: histogram('webhook_ack_seconds', 'From a request to its answer, commit included.', {
    buckets: requestBuckets,
  }),
  quarantineDeliveries: gauge(
    'quarantine_deliveries',
    'Deliveries that failed verification and are kept.',
    ofService,
  ),
  quarantineDropped: counter(
    'quarantine_dropped_total',
    'Deliveries that failed verification and were not kept: too many of one sender, or more than the database took.',
    { labels: { reason: ['rate', 'full'] } },
  ),
  inboxPending: gauge('inbox_pending', 'Observations stored and not applied yet.'),
  inboxOldest: gauge('inbox_oldest_seconds', 'Age of the oldest observation not applied yet.'),
  canaryWebhooks: counter(
    'canary_webhooks_total',
    'Canaries (webhooks to our own public address) by outcome. Only received is good.',
    { labels: { outcome: canaryOutcomes } },
  ),
  canaryWebhook: histogram('canary_webhook_seconds', 'Round trip of canaries that arrived.', {
    buckets: requestBuckets,
  }),
  canaryWebhookAge: gauge(
    'canary_webhook_age_seconds',
    'Time since the last canary arrived, or since the canary was turned on. Absent if it is off.',
    { ofProcess: true },
  ),
  canaryWebhookLimit: gauge(
    'canary_webhook_limit_seconds',
    'Age at which the canary counts as lost: three intervals and one timeout.',
    { ofProcess: true },
  ),
}

/** `304`: the caller had it already. `429`: refused by a limit. */
const apiStatuses = ['2xx', '304', '4xx', '429', '5xx'] as const

export const ofApi = {
  apiRequests: counter(
    'api_requests_total',
    'Requests to the API by how they were answered: `304` is not modified, `429` refused by a limit.',
    { labels: { call: calls, status: apiStatuses } },
  ),
  apiRequest: histogram(
    'api_request_seconds',
    'From a request to the API to its answer. Requests with `wait` are left out.',
    { labels: { call: calls }, buckets: requestBuckets },
  ),
  apiWaiting: gauge('api_waiting_requests', 'Requests to the API that wait for a change of a deposit.', {
    ofProcess: true,
  }),
}

const eventOutcomes = ['delivered', 'refused', 'unanswered'] as const
const endpointStates = ['active', 'paused', 'stopped'] as const

export const ofEvents = {
  eventAttempts: counter('event_attempts_total', 'Attempts to deliver an event to an endpoint, by outcome.', {
    labels: { outcome: eventOutcomes },
  }),
  eventDelivery: histogram(
    'event_delivery_seconds',
    'From the change to the answer of the endpoint, of delivered events.',
    { buckets: requestBuckets },
  ),
  eventEndpoints: gauge(
    'event_endpoints',
    'Endpoints of events by state. A stopped one failed for three days, or answered 410; a paused one was paused by a person.',
    { labels: { state: endpointStates } },
  ),
  eventOldest: gauge(
    'event_oldest_seconds',
    'Age of the oldest event that an active endpoint has not taken; 0 if there is none.',
  ),
}

const channels: OpenSet = { set: 'channel', upTo: 16 }

export const ofNotifications = {
  notifications: counter(
    'notifications_total',
    'Attempts to send a notification, by channel (`people` for those to a person) and outcome.',
    { labels: { channel: channels, outcome: ['sent', 'failed'] } },
  ),
  notificationOldest: gauge(
    'notification_oldest_seconds',
    'Age of the oldest notification that its channel has not accepted. Absent if none waits.',
    { labels: { channel: channels } },
  ),
}

export const pollOutcomes = ['ok', 'refused', 'limited', 'failed', 'withheld'] as const

export const ofPoll = {
  pollAge: gauge(
    'poll_age_seconds',
    "Since the service's records were last read completely; 0 if they never were.",
    ofService,
  ),
  pollRequests: counter('poll_requests_total', "Requests to the service's API by how they ended.", {
    labels: { service: services, outcome: pollOutcomes },
  }),
  pollDrifts: counter(
    'poll_drifts_total',
    'Times that records shifted between pages while they were read.',
    ofService,
  ),
  pollSweepAge: gauge(
    'poll_sweep_age_seconds',
    "Since the last complete reading of all the service's records began; 0 if there was none.",
    ofService,
  ),
}

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
  chainUnreadHeights: gauge(
    'chain_unread_heights',
    'Heights in these ranges: what is left of reading history back.',
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
    { labels: { network: networks, node: nodes }, unit: 'ratio', ofProcess: true },
  ),
  rpcSeconds: histogram('rpc_seconds', 'Duration of requests to nodes.', {
    labels: { network: networks, method: rpcMethods },
    buckets: requestBuckets,
  }),
}
