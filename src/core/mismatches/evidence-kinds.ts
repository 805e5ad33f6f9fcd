import { kindsOf } from './kind-entry.ts'

export const presenceKinds = kindsOf('presence', {
  webhook_missing: {
    severity: 'warning',
    responsible: 'webhook',
    mayBeLate: true,
    lossMeans: 'Only the report is missing. The chain and the API show the money.',
    means: 'The API or the chain shows a step of the deposit, and no webhook for it arrived in time.',
    next: 'Check the webhook endpoint registered at the service and the intake metrics, then ask the service to resend the webhook.',
  },
  api_missing: {
    severity: 'warning',
    responsible: 'api',
    mayBeLate: true,
    lossMeans:
      'Only the record is missing. If the money is missing too, `settlement_missing` carries the loss.',
    means: 'A webhook or the chain shows a deposit that the API does not list.',
    next: 'Check that polling works and that the API key may read this deposit, then ask the service.',
  },
  chain_missing: {
    severity: 'severe',
    mayBeLate: true,
    actWithinHours: 4,
    lossMeans:
      'The amount that the service claims, in the asset that it names. Nothing on the chain backs a credit to the payer.',
    means:
      'The service claims a payment that is not on its chain. The detail gives the proof: the blocks that were read, or the nodes that do not know the transaction.',
    next: 'Look the transaction up on the network. Treat the claim as unproved until the transaction is found.',
  },
  unreported: {
    severity: 'severe',
    mayBeLate: true,
    actWithinHours: 4,
    lossMeans: 'The amount that was paid: the service holds it without reporting it.',
    means: 'A final payment reached a deposit address, and the service has not reported it in time.',
    next: 'Send the transaction to the service. The amount stays in suspense until the service claims it.',
  },
  settlement_missing: {
    severity: 'severe',
    mayBeLate: true,
    actWithinHours: 4,
    lossMeans:
      'The amount owed: the delivery that the service states, less what has arrived; or the payment, if the service states no delivery.',
    means:
      'The payment is final, but no final delivery reached the recipient in time, and nothing went elsewhere. The detail gives the blocks that were read for the recipient.',
    next: 'Ask the service for the delivery. The amount stays in transit.',
  },
  settlement_unreported: {
    severity: 'warning',
    mayBeLate: true,
    lossMeans: 'The money has arrived. Only its deposit is unknown.',
    means:
      "A transfer from one of the service's senders reached a recipient and belongs to no reported deposit.",
    next: 'Ask the service which deposit the transfer settles.',
  },
  withdrawal_unproved: {
    severity: 'severe',
    mayBeLate: true,
    lossMeans: 'The amount that left the balance of the wallet.',
    means:
      'What the service states about a withdrawal from a StableWallet is not what the chain shows: no transfer reached the recipient in time, it has another amount or asset, or it exists although the service calls the withdrawal failed.',
    next: 'Ask the service for the transaction of the withdrawal. It is booked once a final transfer to the recipient has the stated amount.',
  },
})

export const coverageKinds = kindsOf('coverage', {
  not_covered: {
    severity: 'info',
    responsible: 'settings',
    mayBeLate: true,
    lossMeans: 'No loss is known until the blocks are read.',
    means:
      'The service claims a payment or a delivery on a network, at a height or at an address that depositd has not read. Nothing is known to be missing.',
    next: 'If the network has no RPC URL, set one. If the address is not in the address book, import its channel or wallet. Then read the blocks with `bin/depositd backfill`. The detail gives the commands.',
  },
})

export const valueKinds = kindsOf('value', {
  wallet_balance_mismatch: {
    severity: 'severe',
    mayBeLate: true,
    lossMeans:
      'What the service states less than the books hold after all withdrawals under way. If it states more, nothing is lost.',
    means:
      'The balance of a StableWallet at the service differs from its account in the books, apart from withdrawals and credits under way, for longer than a delivery may take.',
    next: 'Compare the deposits and withdrawals of the wallet with the statement of the service. A withdrawal that the service does not list, or a journal by hand, are usual causes.',
  },
  amount_mismatch: {
    severity: 'severe',
    lossMeans: 'The largest stated amount less the smallest: what is claimed or withheld without proof.',
    means: 'The sources state different amounts for the same leg.',
    next: 'Ask the service to correct its record. The amount on the chain is booked.',
  },
  asset_mismatch: {
    severity: 'severe',
    lossMeans:
      'The amount that the service states, in the asset that it states and the chain does not show. The asset that did arrive is not offset.',
    means: 'The sources name different assets for the same leg.',
    next: 'Compare contract addresses, not symbols. The asset on the chain is booked.',
  },
  settlement_short: {
    severity: 'severe',
    lossMeans: 'The stated amount less the delivered amount, in the delivered asset.',
    means: 'The recipient received less than the service states.',
    next: 'Claim the difference from the service: `bin/depositd mismatches dispute` writes the files for it.',
  },
  settlement_over: {
    severity: 'warning',
    actWithinHours: 48,
    lossMeans: 'More arrived than was stated.',
    means: 'The recipient received more than the service states.',
    next: 'Inform the service. It may ask for the excess back.',
  },
  decimals_mismatch: {
    severity: 'severe',
    responsible: 'settings',
    lossMeans:
      'For a delivery: the stated amount less the delivered amount, until the units are corrected. For a payment: none, because the amount on the chain is booked.',
    means:
      'The service states an amount in other decimals than the asset has on its chain: the two amounts differ by a power of ten.',
    next: 'Correct the units of that field in the mapping profile, or the decimals of the asset. They apply to the next claim of the service.',
  },
  fee_out_of_band: {
    severity: 'warning',
    actWithinHours: 48,
    loss: 'measured',
    lossMeans:
      'The fee kept beyond what the policy allows, in the delivered asset, truncated to whole base units. None if the fee is too low.',
    means: 'The fee that the service kept is outside the range that the policy of the route allows.',
    next: 'Compare the fee with the agreement. Then correct the policy, or claim the difference from the service.',
  },
})

export const identityKinds = kindsOf('identity', {
  recipient_mismatch: {
    severity: 'severe',
    actWithinHours: 1,
    lossMeans:
      'The amount that went to another address; or, until a chain shows it, the amount that the service still owes.',
    means: 'The service delivers to another recipient than the one approved for this channel or wallet.',
    next: 'Stop payments to this channel or wallet until the service has explained the recipient.',
  },
  address_changed: {
    severity: 'severe',
    actWithinHours: 1,
    loss: 'unmeasured',
    lossMeans:
      'Everything that will be paid to the new address or delivered to the new recipient. What has not arrived is counted by another mismatch.',
    means: 'The service states a deposit address or a recipient that differs from the address book.',
    next: 'Do not give the new address to anyone, and stop payments to this channel or wallet, until the service has explained the change.',
  },
  unknown_address: {
    severity: 'warning',
    responsible: 'settings',
    lossMeans:
      'The address is not known to be ours. If it is ours, another mismatch counts what does not arrive.',
    means:
      'The service reports a deposit to an address that is not in the address book, or a payment reached an address outside the time for which the address book has it as valid.',
    next: 'Import the channel or wallet, or ask the service who owns the deposit. If the validity of the address has ended, find out who still pays it.',
  },
  conflicting_duplicate: {
    severity: 'severe',
    endsBy: 'person',
    actWithinHours: 4,
    loss: 'unmeasured',
    lossMeans: 'If someone else knows the webhook secret, any claim may be forged.',
    means: 'Webhooks with the same id arrived with different bodies, each with a valid signature.',
    next: 'Ask the service which body is correct. Treat the webhook secret as compromised until the service has explained both.',
  },
  network_mismatch: {
    severity: 'severe',
    loss: 'none',
    lossMeans:
      'The chain shows the payment. A delivery on a network that was not approved is counted by `recipient_mismatch`.',
    means: 'The webhook, the API and the chain do not place a leg on the same network.',
    next: 'Look the transaction up on both networks. The network on which the chain shows it is booked.',
  },
  unknown_owner: {
    severity: 'warning',
    responsible: 'settings',
    lossMeans: 'Only the name of the owner is unknown.',
    means: 'The service names a channel or StableWallet that is not in the address book.',
    next: 'Import it with `bin/depositd channels import` or `bin/depositd wallets import`, or ask the service who owns it.',
  },
  service_mismatch: {
    severity: 'severe',
    actWithinHours: 4,
    loss: 'none',
    lossMeans: 'A payment to the address is booked for its owner, and nothing is booked on the other claim.',
    means: 'A service claims a deposit to an address that belongs to an owner of another service.',
    next: 'Ask both services who owns the address. If the address book is wrong, correct the owner.',
  },
  tx_reused: {
    severity: 'severe',
    actWithinHours: 4,
    lossMeans: 'The amount that the service claims for this deposit: the transfer has paid another deposit.',
    means: 'The service claims one transfer for more than one deposit.',
    next: 'Ask the service which deposit the transfer paid. The other deposits stay unproved.',
  },
  ambiguous_match: {
    severity: 'warning',
    responsible: 'unknown',
    mayBeLate: true,
    loss: 'measured',
    lossMeans:
      'What the deliveries of all these deposits lack in total, shown at the first of them. None while only the match is in doubt.',
    means: 'Several deposits or several transfers match equally well, so none was matched.',
    next: 'Decide with `bin/depositd deposits match DEPOSIT --transfer TRANSFER`. The detail lists the candidates.',
  },
})
