export type Level = 'debug' | 'info' | 'warn' | 'error'

/** One kind of line: `text` for people, and the name and meaning of each field. */
export type EventDeclaration<Field extends string = string> = {
  level: Level
  text: string
  fields: Readonly<Record<Field, string>>
}

/** Declares an event. A field named `err` takes any thrown value. */
function event<Field extends string = never>(
  level: Level,
  text: string,
  fields: Readonly<Record<Field, string>> = {} as Record<Field, string>,
): EventDeclaration<Field> {
  return { level, text, fields }
}

/** The thrown value, with its causes. */
const err =
  'What was thrown: type, message, code, details, causes, and the stack unless it has a code of ours.'

const network = 'The network.'
const deposit = 'The number of the deposit, as `bin/depositd deposits show` takes it.'
const row = 'The row of the inbox, as `inbox/N`: the correlation id.'
const rows = 'The rows of the inbox that led to it just now, as `inbox/N`; the newest 32.'

/** Events of the daemon. Names are stable, since filters rely on them. */
export const daemonEvents = {
  daemon_started: event('info', 'started', {
    webhooks: 'Where webhooks are to be sent; null without the role `http`.',
    ops: 'Where metrics, health and the console are.',
    roles: 'The roles of this process.',
    version: 'The version of the program.',
  }),
  server_awaited: event('warn', 'a server cannot be reached; the start tries again, for at most a minute', {
    err,
  }),
  daemon_stopping: event('info', 'stopping', { signal: 'The signal that asked for it.' }),
  daemon_stopped: event('info', 'stopped'),
  policy_new: event('info', 'the policy is new: all that is stored is decided again'),

  webhook_stored: event('debug', 'a webhook was committed', {
    inbox: row,
    webhook: "The sender's id of the event.",
    outcome: '`stored`, `duplicate` or `conflicting`; of a duplicate, the row is that of the first.',
  }),
  webhook_refused: event('warn', 'webhook refused', {
    outcome: 'How it was answered, as the metric counts it.',
    reason: 'Why the signature scheme refused, where it did.',
  }),
  webhooks_refused_more: event('warn', 'more webhooks were refused', {
    unreported: 'How many of the second before have no line of their own.',
  }),
  webhook_not_stored: event('error', 'webhooks could not be stored', { err }),
  webhooks_not_stored_more: event('error', 'more webhooks could not be stored', {
    unreported: 'How many failures of the second before have no line of their own.',
  }),
  quarantine_not_stored: event('error', 'quarantine could not be stored; it waits', { err }),
  webhook_settings_read: event('info', 'settings of webhooks were read', {
    change: '`opened` at the start, `changed` or `unchanged` when read anew.',
    scheme: 'How webhooks are signed.',
  }),
  webhook_settings_refused: event('error', 'settings of webhooks cannot be used; those from before stay', {
    err,
  }),
  webhooks_unsigned: event(
    'warn',
    'webhooks are taken without a signature: whoever reaches the port can send them',
  ),

  ops_request_failed: event('error', 'an answer of the ops port failed by a fault of the program', {
    path: 'What was asked for.',
    err,
  }),
  gauges_unreadable: event('warn', 'what metrics show could not be read; it is left out of the answer', {
    part: 'Which part: `live`, `totals`, `scorecard` or `queue`.',
    err,
  }),

  batch_applied: event('debug', 'applied', {
    rows: 'Rows of the inbox that were taken.',
    groups: 'Groups of linked evidence that were decided.',
    journals: 'Journals that were posted.',
  }),
  row_applied: event('debug', 'a row of the inbox was applied', {
    inbox: row,
    source: '`webhook`, `api`, `chain` or `person`.',
  }),
  deposit_decided: event('debug', 'a deposit was decided', {
    deposit,
    state: 'Its state since then.',
    inbox: rows,
    webhooks: 'The rows of all webhooks that told of the deposit, as `inbox/N`; the newest 32.',
  }),
  journals_posted: event('info', 'journals were posted', {
    deposit,
    journals: 'The posting keys.',
    inbox: rows,
    webhooks: 'The rows of all webhooks that told of the deposit, as `inbox/N`; the newest 32.',
  }),
  mismatch_changed: event('info', 'mismatch', {
    kind: 'The kind, as docs/mismatches.md lists them.',
    severity: 'How much it matters.',
    network,
    change: '`opened`, `reopened` by evidence or a person, `resolved` by a person, `cleared` by evidence.',
  }),

  history_changed: event('error', 'final history changed; what is gone is withdrawn and read again', {
    network,
  }),
  odd_log: event('warn', 'a Transfer log of a watched contract has an odd form and was passed over', {
    network,
    reason: '`topics`: not two addresses; `data`: not one number; `fields`: a field is missing.',
    contract: 'The contract that wrote it.',
    tx: 'Its transaction; null if the log does not say it.',
  }),
  transaction_unread: event('warn', 'a transaction on Solana cannot be read; its slot stays a coverage gap', {
    network,
    reason: '`version`: newer than this program knows; `owner`: it does not say whose a balance is.',
    slot: 'Its slot.',
    tx: 'The transaction; null if only its slot is known.',
  }),
  job_failed: event('error', 'job failed; it runs again, with growing pauses', {
    job: 'The job.',
    key: 'Of what: a network, the id of a deposit, or nothing.',
    problem:
      'What does not fit, in one line. The same problem is logged again after an hour, or when it comes back.',
    help: 'The page of the documentation that helps.',
    failures: 'How often this problem came up so far, over all jobs.',
    err,
  }),
  schedule_trouble: event('error', 'a tick of the schedule did not come', { err }),
  queue_trouble: event('warn', 'queue', {
    kind: '`connection_failed`, `schema_unusable`, `schema_made`, `worker_replaced` or `eviction_policy_unknown`.',
    failures:
      'How often this problem came up so far. It is logged again after an hour, or when it comes back.',
    err,
  }),
  canary_webhook_lost: event('warn', 'a webhook that we sent to ourselves did not come in', {
    outcome: 'How it ended, as the metric counts it.',
    problem: 'What went wrong, without anything that was sent.',
  }),
  canary_deposit_failed: event('warn', 'a deposit that we made ourselves did not come through in time', {
    network,
    outcome: '`late` or `unpaid`.',
    problem: 'What kept it from being paid, where something did.',
  }),
  tracing_started: event('info', 'traces are sent', {
    collector: 'The host that takes them.',
    ratio: 'The share of traces that is sent.',
  }),
  traces_not_sent: event('warn', 'traces could not be sent, and are dropped', { err }),
} as const

const problem = 'What went wrong, in one line.'

/** Events of the deposit service. */
export const serviceEvents = {
  service_started: event('info', 'started', {
    service: 'Where the API is.',
    faults: 'Where faults are switched; null where they are not.',
    networks: 'The networks it serves.',
    version: 'The version of the program.',
    paysFrom: 'The addresses it forwards from, by family of networks.',
  }),
  service_stopping: event('info', 'stopping', { signal: 'The signal that asked for it.' }),
  service_stopped: event('info', 'stopped'),
  service_without_tls: event('warn', 'the deposit service is served without TLS', {
    host: 'The address it listens on.',
  }),
  service_request_failed: event('error', 'request to the deposit service failed', { problem }),
  service_loop_failed: event('warn', 'service loop failed, will try again', { loop: 'The loop.', problem }),
  faults_switched: event('info', 'fault knobs turned', { faults: 'What was switched, and to what.' }),
  fault_request_failed: event('error', 'request to the fault port failed', { problem }),
  webhook_attempt_lost: event('warn', 'webhook attempt was not kept', {
    webhook: 'The id of the event.',
    endpoint: 'The endpoint it was sent to.',
    problem,
  }),
  transfer_postponed: event('warn', 'transfer postponed', {
    kind: 'What it is for.',
    key: 'What it is of.',
    failures: 'How often it failed.',
    problem,
  }),
  transfer_not_accepted: event('warn', 'transfer not accepted, will be sent again', {
    transaction: 'The transaction.',
    problem,
  }),
  fee_not_replaced: event('warn', 'fee not replaced', { transfer: 'The transfer.', problem }),
} as const

/** Events of the local chains and of the demonstration in embedded mode. */
export const sandboxEvents = {
  program_ended: event('error', 'a program ended by itself', {
    name: 'The program.',
    process: 'Its process id.',
    status: 'Its exit status, or the signal.',
  }),
  leftover_ended: event('info', 'ending what an earlier run left running', {
    name: 'The program.',
    process: 'Its process id.',
  }),
  leftover_not_saved: event('warn', 'the chain of a node that was left running was not saved', { err }),
  chain_not_saved: event('warn', 'a chain was not saved', { err }),
  block_not_made: event('warn', 'a block could not be made', { err }),
  local_request_broken: event('warn', 'a request to the local Solana node broke off', { err }),
  demo_paid: event('debug', 'paid', {
    network: 'The network.',
    asset: 'The asset, by its code.',
    tx: 'The transaction.',
  }),
  demo_payment_failed: event('warn', 'payment failed', { network: 'The network.', err }),
} as const

/** All events. docs/logs.md is generated from this list. */
export const events = { ...daemonEvents, ...serviceEvents, ...sandboxEvents } as const

export type EventName = keyof typeof events
