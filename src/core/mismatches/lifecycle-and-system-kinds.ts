import { kindsOf } from './kind-entry.ts'

export const stateKinds = kindsOf('state', {
  stuck: {
    severity: 'warning',
    mayBeLate: true,
    loss: 'measured',
    lossMeans:
      'For a deposit that the service holds: the amount owed, as for `settlement_missing`. Otherwise none: the payment is not final yet, or is delivered.',
    means: 'A deposit has stayed in one state longer than the policy of its route allows.',
    next: 'Find what it waits for with `bin/depositd deposits show`, then ask the service about it.',
  },
  conversion_open: {
    severity: 'info',
    mayBeLate: true,
    lossMeans: 'What was paid was delivered. What is owed for it is booked in the asset paid.',
    means:
      'A delivery is booked, and the trading accounts of the deposit have not returned to zero in time, because the API no longer calls the deposit settled, or not yet.',
    next: 'Ask the service which status is correct. What is owed moves into the asset delivered once the API calls the deposit settled.',
  },
  status_regressed: {
    severity: 'warning',
    mayBeLate: true,
    lossMeans: 'A status moves no money.',
    means: 'The newest status from the service is earlier than a status that it reported before.',
    next: 'Ask the service which status is correct. Nothing that was booked is reversed because of it.',
  },
  status_conflict: {
    severity: 'warning',
    mayBeLate: true,
    lossMeans: 'A status moves no money. A missing delivery or refund is counted by another mismatch.',
    means: 'The webhook and the API report statuses that contradict each other.',
    next: 'Ask the service which status is correct.',
  },
  terminal_reopened: {
    severity: 'warning',
    lossMeans: 'A status moves no money. What does not arrive is counted by another mismatch.',
    means: 'The service changed a deposit that it had reported as finished.',
    next: 'Ask the service what changed, and compare the delivery with the chain.',
  },
  clock_skew: {
    severity: 'info',
    responsible: 'unknown',
    lossMeans: 'A timestamp moves no money.',
    means: "The service states a time that is ahead of this machine's clock, or before the payment was made.",
    next: 'Check the clock of this machine, then inform the service.',
  },
})

export const chainKinds = kindsOf('chain', {
  orphaned_after_booking: {
    severity: 'severe',
    responsible: 'chain',
    mayBeLate: true,
    actWithinHours: 4,
    lossMeans: 'The payment that is gone.',
    means: 'A payment that was final and booked is no longer on its chain. Its booking was reversed.',
    next: 'Check the nodes of the network, and wait until the payment is included again.',
  },
  unexplained_balance: {
    severity: 'severe',
    responsible: 'chain',
    mayBeLate: true,
    lossMeans:
      'The change of the balance beyond all known transfers, in either direction: a decrease is missing money, an increase is an unreported payment.',
    means:
      'The balance of a deposit address changed by more or less than all known transfers. The detail gives the block or the block range.',
    next: 'Look the address up at that block. A contract may have paid it, the token may have changed balances itself, or the nodes may hide a transfer.',
  },
  unknown_outflow: {
    severity: 'severe',
    actWithinHours: 4,
    lossMeans: 'The amount that left the deposit address.',
    means:
      'A deposit address sent money to an address that is neither one of the senders of the service nor in the address book, and it is more than that address had paid to it.',
    next: 'Ask the service whose address the recipient is. If it sweeps deposits to it, add it to `service.senders`.',
  },
  history_lost: {
    severity: 'severe',
    responsible: 'chain',
    endsBy: 'person',
    actWithinHours: 1,
    loss: 'unmeasured',
    lossMeans: 'Every payment on that network that is no longer read.',
    means:
      'The final history of a network changed further back than the stored blocks reach. Reading that network has stopped.',
    next: 'Check that its nodes follow the right chain. If they do, resume with `bin/depositd backfill --network NAME --from HEIGHT`.',
  },
  rpc_disagreement: {
    severity: 'severe',
    responsible: 'chain',
    mayBeLate: true,
    actWithinHours: 4,
    loss: 'none',
    lossMeans: 'Transfers on which the nodes disagree are not booked.',
    means:
      'The nodes of a network report different transfers or different blocks. Transfers on which fewer nodes than `quorum` agree are not booked.',
    next: 'Compare the blocks and transactions in the detail with a block explorer, and replace the node that is wrong.',
  },
  coverage_gap: {
    severity: 'warning',
    responsible: 'chain',
    mayBeLate: true,
    lossMeans: 'A payment in the gap is found when the gap is read, or by the balance of its address.',
    means:
      'Some blocks of a network were not read for every watched address, and could not be read within an hour.',
    next: 'Find the reason in the log of the job `backfill`. Often, a node no longer has these blocks.',
  },
  tx_failed: {
    severity: 'severe',
    lossMeans:
      'The amount that the service claims, if the payment failed. The amount owed, as for `settlement_missing`, if the delivery failed.',
    means:
      'The service names a transaction for a payment or a delivery that failed on its chain and moved nothing.',
    next: 'Treat the payment as not made, or the delivery as not sent, and ask the service for the correct transaction.',
  },
})

export const policyKinds = kindsOf('policy', {
  below_minimum: {
    severity: 'info',
    responsible: 'payer',
    lossMeans: 'Nothing is owed for a payment below the minimum.',
    means: 'A payment is below the smallest amount that the policy of the route accepts.',
    next: 'Nothing, unless the payer asks for a refund.',
  },
  unsupported_token: {
    severity: 'warning',
    responsible: 'payer',
    actWithinHours: 48,
    lossMeans: 'Nothing is owed for an asset that is not accepted. The payment is in suspense.',
    means: 'A payment is in an asset that the policy of the route does not accept.',
    next: 'Decide whether to refund it. The amount stays in suspense.',
  },
  refund_due: {
    severity: 'severe',
    mayBeLate: true,
    lossMeans: 'The amount that was paid: the service has neither delivered nor refunded it.',
    means: 'The service reports that a final payment has failed, and has not reported a refund in time.',
    next: 'Ask the service for the refund. The amount stays in transit.',
  },
})

export const systemKinds = kindsOf('system', {
  record_disappeared: {
    severity: 'warning',
    responsible: 'api',
    mayBeLate: true,
    lossMeans: 'The evidence from the record still counts.',
    means:
      'The API no longer lists a record that it listed before. The evidence from the record still counts.',
    next: 'Ask the service why the deposit is gone, and compare the record with the chain.',
  },
  unknown_event: {
    severity: 'warning',
    responsible: 'settings',
    endsBy: 'replay',
    lossMeans: 'The payload is stored but not applied. What it would show is missing in other mismatches.',
    means:
      'A webhook has an event type that the mapping profile does not list. It is stored but not applied.',
    next: 'Add the event type to the profile of the service, as `deposit` or `ignored`. Try it with `bin/depositd profile test FILE`, then run `bin/depositd replay`.',
  },
  unknown_status: {
    severity: 'warning',
    responsible: 'settings',
    endsBy: 'replay',
    actWithinHours: 8,
    lossMeans: 'The payload is stored but not applied. What it would show is missing in other mismatches.',
    means:
      'A webhook or record has a status that the mapping profile does not list. It is stored but not applied.',
    next: 'Add the status to the profile of the service. Try it with `bin/depositd profile test FILE`, then run `bin/depositd replay`.',
  },
  schema_drift: {
    severity: 'warning',
    endsBy: 'replay',
    actWithinHours: 8,
    lossMeans: 'The payload is stored but not applied. What it would show is missing in other mismatches.',
    means:
      'A webhook or record does not have the structure that the mapping profile expects. It is stored but not applied.',
    next: 'Compare the payload with the profile of the service at the path in the detail, and correct the profile. Try it with `bin/depositd profile test FILE`, then run `bin/depositd replay`.',
  },
  ledger_imbalance: {
    severity: 'severe',
    responsible: 'books',
    actWithinHours: 1,
    lossMeans: 'The sum, the amount left in transit and the untied amount, added up without their signs.',
    means:
      'The books of an asset do not add up to zero, a closed deposit still has an amount in transit, the amounts in transit do not match the balances of the deposit addresses, or the total of a day differs from its transfers.',
    next: 'Stop payouts based on these books. Run `bin/depositd rebuild --verify`, and check the deposits that it lists.',
  },
  seal_broken: {
    severity: 'severe',
    responsible: 'books',
    actWithinHours: 1,
    loss: 'unmeasured',
    lossMeans: 'Any row may have been altered.',
    means: 'Rows differ from what was sealed: they were changed, deleted or inserted despite all guards.',
    next: 'Keep a copy of the database. Run `bin/depositd ledger verify`, and check the rows that it lists.',
  },
})
