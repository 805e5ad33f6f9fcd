export type Severity = 'info' | 'warning' | 'severe'

type Entry = {
  severity: Severity
  family: 'presence' | 'value' | 'identity' | 'chain' | 'system'
  /** What it says, for people. */
  means: string
  /** What to do next. */
  next: string
}

/** Every kind of mismatch. Documentation, metrics and the command line read this one table. */
export const mismatchKinds = {
  webhook_missing: {
    severity: 'warning',
    family: 'presence',
    means: 'The API or the chain tells of a step for which no webhook came in time.',
    next: 'Check the webhook target at the service and the intake metrics; ask the service to resend.',
  },
  api_missing: {
    severity: 'warning',
    family: 'presence',
    means: 'A webhook or the chain tells of a deposit that the API does not list.',
    next: 'Check that the poll is alive and the key may read this deposit; ask the service.',
  },
  chain_missing: {
    severity: 'severe',
    family: 'presence',
    means: 'The service claims a payment that is not on its chain.',
    next: 'Look the transaction up on the network; treat the claim as unproved until it is found.',
  },
  unreported: {
    severity: 'severe',
    family: 'presence',
    means: 'A final payment to a deposit address that the service has not reported.',
    next: 'Hand the transaction to the service; the amount stands in suspense until it is claimed.',
  },
  settlement_missing: {
    severity: 'severe',
    family: 'presence',
    means:
      'The payment is final, nothing final has reached the recipient in time, and nothing went elsewhere.',
    next: 'Ask the service where the forward is; the amount stands in transit.',
  },
  settlement_unreported: {
    severity: 'warning',
    family: 'presence',
    means:
      "A transfer from one of the service's senders reached a recipient and belongs to no reported deposit.",
    next: 'Ask the service which deposit it settles.',
  },
  amount_mismatch: {
    severity: 'severe',
    family: 'value',
    means: 'The sources state different amounts for the same leg.',
    next: 'The chain is booked; ask the service to correct its record.',
  },
  asset_mismatch: {
    severity: 'severe',
    family: 'value',
    means: 'The sources name different assets for the same leg.',
    next: 'Compare contracts, not symbols; the chain is booked.',
  },
  settlement_short: {
    severity: 'severe',
    family: 'value',
    means: 'Less reached the recipient than the service states.',
    next: 'Claim the difference from the service.',
  },
  settlement_over: {
    severity: 'warning',
    family: 'value',
    means: 'More reached the recipient than the service states.',
    next: 'Tell the service; expect it to be asked back.',
  },
  recipient_mismatch: {
    severity: 'severe',
    family: 'identity',
    means: 'The service names another recipient than the one approved for this channel or wallet.',
    next: 'Stop paying into this channel until the service explains it.',
  },
  address_changed: {
    severity: 'severe',
    family: 'identity',
    means:
      'The service states another deposit address, or another recipient, for a channel or wallet than the address book has.',
    next: 'Give the new address to nobody and stop paying into this channel or wallet until the service explains it.',
  },
  unknown_address: {
    severity: 'warning',
    family: 'identity',
    means: 'The service reports a deposit to an address that is not in the address book.',
    next: 'Import the channel or wallet, or ask the service whose deposit it is.',
  },
  conflicting_duplicate: {
    severity: 'severe',
    family: 'identity',
    means: 'One id of a webhook came with different bodies, each of them verified.',
    next: 'Ask the service which body counts; suspect the webhook secret until it has explained them.',
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
} as const satisfies Record<string, Entry>

export type MismatchKind = keyof typeof mismatchKinds

/** What is said of a payload that the mapping cannot read. */
export const unreadableKinds = ['unknown_event', 'unknown_status', 'schema_drift'] as const
export type UnreadableKind = (typeof unreadableKinds)[number]

/** Something wrong about one deposit or transfer. `detail` says what each side states. */
export type Mismatch = { kind: MismatchKind; detail: Readonly<Record<string, string>> }
