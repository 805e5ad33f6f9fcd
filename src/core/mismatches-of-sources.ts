import type { KindEntry } from './mismatch-entry.ts'

/** What the sources leave out, and what they contradict each other in. */
export const kindsOfSources = {
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
  decimals_mismatch: {
    severity: 'severe',
    family: 'value',
    means:
      'The service writes an amount in other decimals than the chain has for that asset: the two differ by a power of ten.',
    next: 'Mend the units of that field in the mapping profile, or the decimals of the asset; then run `depositd replay`.',
  },
  fee_out_of_band: {
    severity: 'warning',
    family: 'value',
    means: 'What the service kept is more, or less, than the policy of the route allows.',
    next: 'Compare the fee with what was agreed; mend the policy, or claim the difference from the service.',
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
  network_mismatch: {
    severity: 'severe',
    family: 'identity',
    means: 'The service names another network for a leg than the one on which the chain shows it.',
    next: 'Compare the transaction on both networks; the chain is booked.',
  },
  unknown_owner: {
    severity: 'warning',
    family: 'identity',
    means: 'The service names a channel or StableWallet that is not in the address book.',
    next: 'Import it with `depositd channels import` or `depositd wallets import`, or ask the service whose it is.',
  },
  tx_reused: {
    severity: 'severe',
    family: 'identity',
    means: 'The service claims one transfer for more than one deposit.',
    next: 'Ask the service which deposit was paid by it; the others stand unproved.',
  },
  ambiguous_match: {
    severity: 'warning',
    family: 'identity',
    means: 'Several deposits, or several transfers, fit each other equally well. Nothing is guessed.',
    next: 'Decide with `depositd deposits match`; the detail names what fits.',
  },
} as const satisfies Record<string, KindEntry>
