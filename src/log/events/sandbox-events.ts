import { err, event } from './event.ts'

/** What the local chains and the demonstration of embedded mode tell. */
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
