import type { KindEntry } from './kind-entry.ts'

/** Mismatches by missing evidence, and by contradictions between the sources. */
export const kindsOfSources = {
  webhook_missing: {
    severity: 'warning',
    family: 'presence',
    off: 'webhook',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 24,
    loss: { rule: 'none', means: 'Only the report is missing. The chain and the API show the money.' },
    means: 'The API or the chain tells of a step for which no webhook came in time.',
    next: 'Check the webhook target at the service and the intake metrics; ask the service to resend.',
  },
  api_missing: {
    severity: 'warning',
    family: 'presence',
    off: 'api',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 24,
    loss: {
      rule: 'none',
      means:
        'Only the record is missing. If the money is missing too, `settlement_missing` carries the loss.',
    },
    means: 'A webhook or the chain tells of a deposit that the API does not list.',
    next: 'Check that the poll is alive and the key may read this deposit; ask the service.',
  },
  chain_missing: {
    severity: 'severe',
    family: 'presence',
    off: 'service',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 4,
    loss: {
      rule: 'measured',
      means:
        'The amount that the service claims, in the asset that it names: a credit to the payer would rest on nothing.',
    },
    means:
      'The service claims a payment that is not on its chain. The detail names the proof: blocks that were read, or nodes that do not know the transaction.',
    next: 'Look the transaction up on the network; treat the claim as unproved until it is found.',
  },
  not_covered: {
    severity: 'info',
    family: 'coverage',
    off: 'settings',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 168,
    loss: { rule: 'none', means: 'Nothing is known to be lost before it is read.' },
    means:
      'The service claims a payment or a delivery on a network, at a height or at an address that depositd has not read. Nothing is known to be missing.',
    next: 'Import the channel or wallet if its address is not in the address book, then read the blocks with `bin/depositd backfill`. The detail gives the commands.',
  },
  unreported: {
    severity: 'severe',
    family: 'presence',
    off: 'service',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 4,
    loss: { rule: 'measured', means: 'The amount that was paid: the service holds it and does not say so.' },
    means: 'A final payment to a deposit address that the service has not reported.',
    next: 'Hand the transaction to the service; the amount stands in suspense until it is claimed.',
  },
  settlement_missing: {
    severity: 'severe',
    family: 'presence',
    off: 'service',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 4,
    loss: {
      rule: 'measured',
      means:
        'What is owed: the delivery that the service states, less what has arrived of it; the amount that was paid, if it states none.',
    },
    means:
      'The payment is final, nothing final has reached the recipient in time, and nothing went elsewhere. The detail names the blocks that were read at the recipient.',
    next: 'Ask the service where the forward is; the amount stands in transit.',
  },
  settlement_unreported: {
    severity: 'warning',
    family: 'presence',
    off: 'service',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 24,
    loss: { rule: 'none', means: 'The money has arrived. Only the deposit that it belongs to is not known.' },
    means:
      "A transfer from one of the service's senders reached a recipient and belongs to no reported deposit.",
    next: 'Ask the service which deposit it settles.',
  },
  amount_mismatch: {
    severity: 'severe',
    family: 'value',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 8,
    loss: {
      rule: 'measured',
      means:
        'The difference between the largest and the smallest amount that is stated: so much is claimed, or withheld, without proof.',
    },
    means: 'The sources state different amounts for the same leg.',
    next: 'The chain is booked; ask the service to correct its record.',
  },
  asset_mismatch: {
    severity: 'severe',
    family: 'value',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 8,
    loss: {
      rule: 'measured',
      means:
        'The amount that the service states, in the asset that it states and that the chain does not show. What did arrive is of another asset, and is not set off.',
    },
    means: 'The sources name different assets for the same leg.',
    next: 'Compare contracts, not symbols; the chain is booked.',
  },
  settlement_short: {
    severity: 'severe',
    family: 'value',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 8,
    loss: {
      rule: 'measured',
      means: 'What the service states, less what was delivered, in the asset delivered.',
    },
    means: 'Less reached the recipient than the service states.',
    next: 'Claim the difference from the service.',
  },
  settlement_over: {
    severity: 'warning',
    family: 'value',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 48,
    loss: { rule: 'none', means: 'More arrived than was stated.' },
    means: 'More reached the recipient than the service states.',
    next: 'Tell the service; expect it to be asked back.',
  },
  decimals_mismatch: {
    severity: 'severe',
    family: 'value',
    off: 'settings',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 8,
    loss: {
      rule: 'measured',
      means:
        'Of a delivery: what the service states, less what was delivered, until the units are corrected. Of a payment: none, since the chain is booked.',
    },
    means:
      'The service writes an amount in other decimals than the chain has for that asset: the two differ by a power of ten.',
    next: "Mend the units of that field in the mapping profile, or the decimals of the asset; the service's next word is read so.",
  },
  fee_out_of_band: {
    severity: 'warning',
    family: 'value',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 48,
    loss: {
      rule: 'measured',
      means:
        'What the service kept beyond what the policy allows, in the asset delivered, cut to whole base units. None if it kept less.',
    },
    means: 'What the service kept is more, or less, than the policy of the route allows.',
    next: 'Compare the fee with what was agreed; mend the policy, or claim the difference from the service.',
  },
  recipient_mismatch: {
    severity: 'severe',
    family: 'identity',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 1,
    loss: {
      rule: 'measured',
      means: 'What went elsewhere; what the service states to go elsewhere, if no chain shows it yet.',
    },
    means: 'The service names another recipient than the one approved for this channel or wallet.',
    next: 'Stop paying into this channel until the service explains it.',
  },
  address_changed: {
    severity: 'severe',
    family: 'identity',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 1,
    loss: {
      rule: 'unmeasured',
      means:
        'Everything that will be paid to the new address, or delivered to the new recipient. What did not arrive is a loss of another mismatch.',
    },
    means:
      'The service states another deposit address, or another recipient, for a channel or wallet than the address book has.',
    next: 'Give the new address to nobody and stop paying into this channel or wallet until the service explains it.',
  },
  unknown_address: {
    severity: 'warning',
    family: 'identity',
    off: 'settings',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 24,
    loss: {
      rule: 'none',
      means:
        'The address is not known to be ours. What is ours and does not arrive is a loss of another mismatch.',
    },
    means: 'The service reports a deposit to an address that is not in the address book.',
    next: 'Import the channel or wallet, or ask the service whose deposit it is.',
  },
  conflicting_duplicate: {
    severity: 'severe',
    family: 'identity',
    off: 'service',
    ends: { by: 'person', byWaiting: false },
    actWithinHours: 4,
    loss: { rule: 'unmeasured', means: 'If the webhook secret is known to others, any claim may be forged.' },
    means: 'One id of a webhook came with different bodies, each of them verified.',
    next: 'Ask the service which body counts; suspect the webhook secret until it has explained them.',
  },
  network_mismatch: {
    severity: 'severe',
    family: 'identity',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 8,
    loss: {
      rule: 'none',
      means:
        'The payment is where the chain shows it. A delivery on a network that was not approved is a loss of `recipient_mismatch`.',
    },
    means: 'Webhook, API and chain do not all place a leg on the same network.',
    next: 'Compare the transaction on both networks; the chain is booked.',
  },
  unknown_owner: {
    severity: 'warning',
    family: 'identity',
    off: 'settings',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 24,
    loss: { rule: 'none', means: 'Only the name of the owner is not known.' },
    means: 'The service names a channel or StableWallet that is not in the address book.',
    next: 'Import it with `bin/depositd channels import` or `bin/depositd wallets import`, or ask the service whose it is.',
  },
  tx_reused: {
    severity: 'severe',
    family: 'identity',
    off: 'service',
    ends: { by: 'evidence', byWaiting: false },
    actWithinHours: 4,
    loss: {
      rule: 'measured',
      means: 'The amount that the service claims for this deposit: the transfer has paid another one.',
    },
    means: 'The service claims one transfer for more than one deposit.',
    next: 'Ask the service which deposit was paid by it; the others stand unproved.',
  },
  ambiguous_match: {
    severity: 'warning',
    family: 'identity',
    off: 'unknown',
    ends: { by: 'evidence', byWaiting: true },
    actWithinHours: 24,
    loss: {
      rule: 'measured',
      means:
        'What all these deposits lack together of what is stated, once, at the first of them. None while only a match is in doubt.',
    },
    means: 'Several deposits, or several transfers, fit each other equally well. Nothing is guessed.',
    next: 'Decide with `bin/depositd deposits match`; the detail names what fits.',
  },
} as const satisfies Record<string, KindEntry>
