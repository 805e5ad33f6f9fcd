import { event } from './event.ts'

const problem = 'What went wrong, in one line.'

/** What the deposit service tells. */
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
