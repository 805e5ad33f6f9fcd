import type { KindEntry } from './mismatch-entry.ts'

/** What is wrong with the course of a deposit, with a chain, by a policy, or with the reading itself. */
export const kindsOfMatters = {
  stuck: {
    severity: 'warning',
    family: 'state',
    means: 'A deposit has stayed in one state longer than the policy of its route allows.',
    next: 'Look at what it waits for with `depositd deposits show`; ask the service where it is.',
  },
  status_regressed: {
    severity: 'warning',
    family: 'state',
    means: 'The service told of a later status before it told of an earlier one as its newest word.',
    next: 'Ask the service which status holds; nothing is taken back by it.',
  },
  status_conflict: {
    severity: 'warning',
    family: 'state',
    means: 'The webhook and the API tell of statuses that cannot both be so.',
    next: 'Ask the service which one holds.',
  },
  terminal_reopened: {
    severity: 'warning',
    family: 'state',
    means: 'The service changed a deposit that it had called finished.',
    next: 'Ask the service what changed; compare the delivery with the chain.',
  },
  clock_skew: {
    severity: 'info',
    family: 'state',
    means:
      'A time that the service states is ahead of the clock of this machine, or before the payment was made.',
    next: 'Check the clock of this machine; tell the service.',
  },
  orphaned_after_booking: {
    severity: 'severe',
    family: 'chain',
    means: 'A payment that was final and booked is no longer on the chain; the booking was reversed.',
    next: 'Check the nodes of that network; wait for the payment to be included again.',
  },
  unexplained_balance: {
    severity: 'severe',
    family: 'chain',
    means:
      'What a deposit address holds changed by more, or by less, than all transfers that are known of it. The detail names the block, or the stretch.',
    next: 'Look the address up at that block. A contract may have paid it, the token may have changed balances by itself, or the nodes hide a transfer.',
  },
  history_lost: {
    severity: 'severe',
    family: 'chain',
    means:
      "A network's final history changed further back than is remembered. Reading that network has stopped.",
    next: 'Check that its nodes are of the right chain. If they are, read on with `depositd backfill --network NAME --from HEIGHT`.',
  },
  rpc_disagreement: {
    severity: 'severe',
    family: 'chain',
    means:
      'The nodes of a network tell of different transfers, or of different blocks. What fewer nodes than `quorum` agree on is not booked.',
    next: 'Compare what the detail names with an explorer; replace the node that is wrong.',
  },
  coverage_gap: {
    severity: 'warning',
    family: 'chain',
    means:
      'Some heights of a network were not read for every watched address, and it could not be made good in an hour.',
    next: 'Look why these heights cannot be read, in the log of the job `backfill`; often a node no longer has them.',
  },
  tx_failed: {
    severity: 'severe',
    family: 'chain',
    means:
      'The service names a transaction for a payment or its delivery that failed on its chain and moved nothing.',
    next: 'Treat the payment as not made, or the delivery as not sent; ask the service for the transaction that counts.',
  },
  below_minimum: {
    severity: 'info',
    family: 'policy',
    means: 'A payment is below the smallest amount that the policy of the route accepts.',
    next: 'Nothing, unless the payer asks for it back.',
  },
  unsupported_token: {
    severity: 'warning',
    family: 'policy',
    means: 'A payment is of an asset that the policy of the route does not accept.',
    next: 'Decide whether it is refunded; the amount stands in suspense.',
  },
  refund_due: {
    severity: 'warning',
    family: 'policy',
    means:
      'The service says that a deposit is to be refunded, or has failed, and no refund has left its address in time.',
    next: 'Ask the service for the refund.',
  },
  record_disappeared: {
    severity: 'warning',
    family: 'system',
    means: 'The API listed a record, and has it no more. What it said stands.',
    next: 'Ask the service why the deposit is gone; compare what it said with the chain.',
  },
  unknown_event: {
    severity: 'warning',
    family: 'system',
    means: 'A webhook is of a kind that the mapping profile does not list. It is kept and not applied.',
    next: 'Add its kind to the profile, as `deposit` or `ignored`; then run `depositd replay`.',
  },
  unknown_status: {
    severity: 'warning',
    family: 'system',
    means:
      'A webhook or record has a status that the mapping profile does not list. It is kept and not applied.',
    next: 'Add the status to the profile; then run `depositd replay`.',
  },
  schema_drift: {
    severity: 'warning',
    family: 'system',
    means: 'A webhook or record does not have the shape the mapping expects. It is kept and not applied.',
    next: 'Compare the payload with the profile at the path that is named, and mend it; then run `depositd replay`.',
  },
  ledger_imbalance: {
    severity: 'severe',
    family: 'system',
    means:
      'The books of an asset do not add up to zero, or a deposit that is closed still has something in transit.',
    next: 'Stop paying out of these books; run `depositd rebuild --verify`, and look at what it names.',
  },
} as const satisfies Record<string, KindEntry>
