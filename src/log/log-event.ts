/** A pino logger is one. */
export type LineSink = Readonly<Record<Level, (fields: object, text: string) => void>>

type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly string[]
  | Readonly<Record<string, unknown>>
type FieldOf<Name extends EventName> = keyof (typeof events)[Name]['fields']

export type EventFields<Name extends EventName> = {
  [Field in FieldOf<Name>]: Field extends 'err' ? unknown : Value
}

type EventArguments<Name extends EventName> = FieldOf<Name> extends never ? [] : [fields: EventFields<Name>]

export function logEvent<Name extends EventName>(
  log: LineSink,
  name: Name,
  ...given: EventArguments<Name>
): void {
  const { level, text }: EventDeclaration = events[name]
  const [fields] = given as readonly [object?]
  log[level]({ event: name, ...fields }, text)
}

type Level = 'debug' | 'info' | 'warn' | 'error'

export type EventDeclaration<Field extends string = string> = {
  level: Level
  text: string
  fields: Readonly<Record<Field, string>>
}

/** A field named `err` takes any thrown value. */
function event<Field extends string = never>(
  level: Level,
  text: string,
  fields: Readonly<Record<Field, string>> = {} as Record<Field, string>,
): EventDeclaration<Field> {
  return { level, text, fields }
}

const err =
  'The error: type, message, code, details, causes, and the stack if it is not one of our own errors.'

const network = 'The network.'
const service = 'The name of the deposit service in the settings.'
const deposit = 'The number of the deposit, as for `bin/depositd deposits show`.'
const row = 'The row of the inbox, as `inbox/N`: the correlation id.'
const rows = 'The rows of the inbox that caused it, as `inbox/N`; at most the newest 32.'
const webhooks = 'The rows of all webhooks about the deposit, as `inbox/N`; at most the newest 32.'
const failures = 'How often this problem has occurred. It is logged again after an hour, or when it returns.'
const suppressed = 'How many such lines were left out since the last one: at most ten a second are written.'
const signal = 'The signal that requested it.'
const version = 'The version of the program.'

/** Names are stable, because filters rely on them. */
export const daemonEvents = {
  daemon_started: event('info', 'started', {
    webhooks: 'The URL for webhooks; null without the role `http`.',
    ops: 'The URL of metrics, health and the console.',
    api: 'The URL of the API; null if it is off.',
    roles: 'The roles of this process.',
    version,
  }),
  server_awaited: event('warn', 'a server is unreachable; retrying for up to one minute', { err }),
  daemon_stopping: event('info', 'stopping', { signal }),
  daemon_stopped: event('info', 'stopped'),
  policy_changed: event('info', 'the policy has changed; all stored evidence is decided again'),
  policy_waiting: event(
    'warn',
    'the policy of the settings is not active: it waits for the approval of two people; see bin/depositd policy approve',
  ),

  webhook_stored: event('debug', 'webhook committed', {
    inbox: row,
    webhook: "The sender's id of the event.",
    outcome:
      '`stored`, `duplicate` or `conflicting`. For a duplicate, `inbox` is the row of the first webhook.',
  }),
  webhook_refused: event('warn', 'webhook refused', {
    service,
    outcome: 'The outcome, as counted by the metric.',
    reason: 'Why the signature was rejected, if it was.',
    suppressed,
  }),
  webhook_not_stored: event('error', 'webhooks could not be stored', { suppressed, err }),
  quarantine_not_stored: event('error', 'quarantined webhooks could not be stored; will retry', { err }),
  settings_read: event('info', 'settings read', {
    change: '`opened` at the start; `changed` or `unchanged` when read again.',
    services: 'The services, with their signature schemes.',
    restart: 'Changed settings that become active only after a restart.',
  }),
  settings_refused: event('error', 'the changed settings are invalid; the previous ones stay active', {
    err,
  }),
  webhooks_unsigned: event(
    'warn',
    'webhooks are accepted without a signature; anyone who can reach the port can send them',
    { service },
  ),

  ops_request_failed: event('error', 'request to the ops port failed because of an internal error', {
    path: 'The requested path.',
    err,
  }),
  api_request_failed: event('error', 'request to the API failed because of an internal error', {
    path: 'The requested path.',
    err,
  }),
  gauges_unreadable: event('warn', 'some metrics could not be read and are missing from the response', {
    part: 'The missing metrics: `live`, `totals`, `scorecard` or `queue`.',
    err,
  }),

  batch_applied: event('debug', 'batch applied', {
    rows: 'The number of inbox rows applied.',
    groups: 'The number of groups of linked evidence decided.',
    journals: 'The number of journals posted.',
  }),
  row_applied: event('debug', 'inbox row applied', {
    inbox: row,
    source: '`webhook`, `api`, `chain` or `person`.',
  }),
  deposit_decided: event('debug', 'deposit decided', {
    deposit,
    state: 'Its new state.',
    inbox: rows,
    webhooks,
  }),
  journals_posted: event('info', 'journals posted', {
    deposit,
    journals: 'The posting keys.',
    inbox: rows,
    webhooks,
  }),
  mismatch_changed: event('info', 'mismatch changed', {
    kind: 'The kind, as listed in docs/mismatches.md.',
    severity: 'The severity.',
    service: 'The name of the deposit service in the settings; null if it is about no single service.',
    network,
    change: '`opened`; `reopened` by evidence or a person; `resolved` by a person; `cleared` by evidence.',
  }),

  history_changed: event('error', 'final history changed; vanished transfers are withdrawn and read again', {
    network,
  }),
  transfer_log_malformed: event('warn', 'skipped a malformed Transfer log of a watched contract', {
    network,
    reason: '`topics`: not two addresses; `data`: not one number; `fields`: a field is missing.',
    contract: 'The contract that emitted it.',
    tx: 'The transaction; null if the log does not contain it.',
  }),
  transaction_unread: event('warn', 'cannot read a Solana transaction; its slot stays a coverage gap', {
    network,
    reason: '`version`: newer than this program supports; `owner`: the owner of a balance is missing.',
    slot: 'The slot.',
    tx: 'The transaction; null if only its slot is known.',
  }),
  job_failed: event('error', 'job failed; will retry with increasing delays', {
    job: 'The job.',
    key: 'The network, or the id of the deposit or wallet, that the job is for; empty if none.',
    problem: 'The problem in one line. It is logged again after an hour, or when it returns.',
    help: 'The documentation page about the problem.',
    failures: 'How often this problem has occurred in all jobs.',
    err,
  }),
  schedule_failed: event('error', 'the schedule missed a tick', { err }),
  queue_failed: event('warn', 'queue problem', {
    kind: '`connection_failed`, `schema_unusable`, `schema_made`, `worker_replaced` or `eviction_policy_unknown`.',
    failures,
    err,
  }),
  event_endpoint_stopped: event('error', 'an endpoint takes no more events until a person resumes it', {
    endpoint: 'The name of the endpoint.',
    reason: '`undelivered`: an event failed for three days. `gone`: it answered 410.',
  }),
  canary_webhook_lost: event('warn', 'a canary webhook did not arrive', {
    outcome: 'The outcome, as the metric counts it.',
    problem: 'The problem, without any part of the request.',
  }),
  notification_failed: event('warn', 'a notification was not accepted; will retry with increasing delays', {
    channel: 'The channel of the settings, or `people/` and the name of a person.',
    tries: 'How often this message was tried.',
    problem: 'The problem, without secrets.',
  }),
  tracing_started: event('info', 'traces are exported', {
    collector: 'The host of the collector.',
    ratio: 'The proportion of traces that is exported.',
  }),
  traces_not_sent: event('warn', 'traces could not be exported and were dropped', { err }),
} as const

const problem = 'The problem in one line.'

export const serviceEvents = {
  service_started: event('info', 'started', {
    service: 'The URL of the API.',
    faults: 'The URL for switching faults; null if faults cannot be switched.',
    networks: 'The networks that it serves.',
    version,
    paysFrom: 'The addresses that it forwards from, by network family.',
  }),
  service_stopping: event('info', 'stopping', { signal }),
  service_stopped: event('info', 'stopped'),
  witness_refused: event('error', 'a log contradicts what this witness confirmed', {
    origin: 'The name of the log.',
    reason: 'The contradiction.',
  }),
  service_without_tls: event('warn', 'the deposit service is served without TLS', {
    host: 'The address that it listens on.',
  }),
  service_request_failed: event('error', 'request to the deposit service failed', { problem }),
  service_loop_failed: event('warn', 'service loop failed; will retry', { loop: 'The loop.', problem }),
  faults_switched: event('info', 'faults switched', { faults: 'The faults and their new values.' }),
  fault_request_failed: event('error', 'request to the fault port failed', { problem }),
  webhook_attempt_lost: event('warn', 'webhook attempt was not recorded', {
    webhook: 'The id of the event.',
    endpoint: 'The endpoint of the webhook.',
    problem,
  }),
  transfer_postponed: event('warn', 'transfer postponed', {
    kind: 'The purpose of the transfer.',
    key: 'The object that the transfer is for.',
    failures: 'The number of failures so far.',
    problem,
  }),
  transfer_not_accepted: event('warn', 'transfer not accepted; will be sent again', {
    transaction: 'The transaction.',
    problem,
  }),
  fee_not_replaced: event('warn', 'fee not replaced', { transfer: 'The transfer.', problem }),
} as const

const program = { name: 'The program.', process: 'Its process id.' }

export const sandboxEvents = {
  program_ended: event('error', 'a program ended unexpectedly', {
    ...program,
    status: 'Its exit status or signal.',
  }),
  leftover_ended: event('info', 'ending a program that an earlier run left running', program),
  leftover_not_saved: event('warn', 'the chain of a node that was left running was not saved', { err }),
  chain_not_saved: event('warn', 'a chain was not saved', { err }),
  block_not_made: event('warn', 'a block could not be produced', { err }),
  local_request_broken: event('warn', 'a request to the local Solana node was aborted', { err }),
  demo_paid: event('debug', 'payment made', {
    network,
    asset: 'The asset, by its contract, mint or `native`.',
    tx: 'The transaction.',
  }),
  demo_payment_failed: event('warn', 'payment failed', { network, err }),
} as const

/** docs/logs.md is generated from this list. */
export const events = { ...daemonEvents, ...serviceEvents, ...sandboxEvents } as const

type EventName = keyof typeof events
