/** Deposits are affected permanently or not; API requests are drawn separately. */
type FaultScope = 'deposits' | 'requests'

/**
 * What resolves a mismatch: a late item (`time`), a `resend` of the webhooks, a corrected `record`, or a decision of a
 * `person`.
 */
export type End = 'time' | 'resend' | 'record' | 'person'

/**
 * `mismatch`: the kind that depositd must report (docs/mismatches.md), and `ends` what resolves it. `ofWallets`: a
 * second kind, for a deposit to a StableWallet. `ifRead`: a second kind, if the record was read before. `mismatch` is
 * null if depositd tolerates the error; `absorbed` says why and how it is visible.
 */
type FaultTableEntry = { scope: FaultScope; does: string } & (
  | { mismatch: string; ends: End; ofWallets?: string; ifRead?: string }
  | { mismatch: null; absorbed: string }
)

export const faultTable = {
  dropWebhookRate: {
    scope: 'deposits',
    does: 'sends no webhooks of a deposit, although the delivery log shows them as delivered',
    mismatch: 'webhook_missing',
    ends: 'resend',
  },
  doubleWebhookRate: {
    scope: 'deposits',
    does: 'sends each webhook of a deposit twice',
    mismatch: null,
    absorbed: 'the same event is stored once; depositd_webhook_requests_total counts the outcome duplicate',
  },
  delayWebhookRate: {
    scope: 'deposits',
    does: 'sends the webhooks of a deposit only after the delay',
    mismatch: 'webhook_missing',
    ends: 'time',
  },
  reorderWebhookRate: {
    scope: 'deposits',
    does: 'sends a later webhook of a deposit before an earlier one',
    mismatch: null,
    absorbed: 'the furthest status counts, regardless of the order of arrival; the evidence shows both',
  },
  corruptWebhookRate: {
    scope: 'deposits',
    does: 'changes a byte of each webhook of a deposit after it was signed',
    mismatch: 'webhook_missing',
    ends: 'resend',
  },
  resignWebhookRate: {
    scope: 'deposits',
    does: 'signs the webhooks of a deposit with an unknown secret',
    mismatch: 'webhook_missing',
    ends: 'resend',
  },
  editWebhookRate: {
    scope: 'deposits',
    does: 'states another amount in the webhooks of a deposit, with valid signatures',
    mismatch: 'amount_mismatch',
    ends: 'person',
  },
  skewWebhookRate: {
    scope: 'deposits',
    does: 'dates the webhooks of a deposit an hour ahead',
    mismatch: 'clock_skew',
    ends: 'person',
  },
  hideRecordRate: {
    scope: 'deposits',
    does: 'never lists a deposit, although its webhooks are sent',
    mismatch: 'api_missing',
    ends: 'record',
    ofWallets: 'settlement_missing',
  },
  editRecordRate: {
    scope: 'deposits',
    does: 'lists a deposit with another amount',
    mismatch: 'amount_mismatch',
    ends: 'record',
  },
  renameOwnerRate: {
    scope: 'deposits',
    does: 'lists a deposit under an unknown owner',
    mismatch: 'unknown_owner',
    ends: 'record',
  },
  renameNetworkRate: {
    scope: 'deposits',
    does: 'lists a deposit on another network of the same family',
    mismatch: 'network_mismatch',
    ends: 'record',
  },
  removeRecordRate: {
    scope: 'deposits',
    does: 'stops listing a deposit after it is confirmed',
    mismatch: 'api_missing',
    ends: 'record',
    ofWallets: 'settlement_missing',
    ifRead: 'record_disappeared',
  },
  dropTransactionRate: {
    scope: 'deposits',
    does: 'omits the transaction of the payment from the webhooks and from the record',
    mismatch: 'unreported',
    ends: 'person',
  },
  claimAgainRate: {
    scope: 'deposits',
    does: 'reports a second deposit with the payment of a settled one, in a record and a webhook of its own',
    mismatch: 'tx_reused',
    ends: 'person',
  },
  regressStatusRate: {
    scope: 'deposits',
    does: 'reports a forwarding deposit as confirmed again, in its record and its webhook, until it is settled',
    mismatch: 'status_regressed',
    ends: 'time',
  },
  reopenRate: {
    scope: 'deposits',
    does: 'reports a settled deposit as forwarding again after the delay, until the rate is 0',
    mismatch: 'terminal_reopened',
    ends: 'person',
  },
  withholdRefundRate: {
    scope: 'deposits',
    does: 'fails a deposit as too small instead of delivering it, and keeps the payment',
    mismatch: 'refund_due',
    ends: 'person',
  },
  reorderRecordsRate: {
    scope: 'requests',
    does: 'lists the deposits of a page in another order',
    mismatch: null,
    absorbed: 'a page is stored completely before its order matters; only the response shows it',
  },
  driftPageRate: {
    scope: 'requests',
    does: 'returns short pages between which deposits shift, so that one is listed twice or not at all',
    mismatch: null,
    absorbed:
      'the next poll reads a skipped deposit, and a repeated one is stored once; only the responses show it',
  },
  refuseCallRate: {
    scope: 'requests',
    does: 'answers 429 with a Retry-After header, which is sometimes invalid',
    mismatch: null,
    absorbed: 'the request is sent again; depositd_poll_requests_total counts the outcome limited',
  },
  failCallRate: {
    scope: 'requests',
    does: 'answers 500',
    mismatch: null,
    absorbed: 'the request is sent again; depositd_poll_requests_total counts the outcome failed',
  },
  stallCallRate: {
    scope: 'requests',
    does: 'does not answer until the client gives up',
    mismatch: null,
    absorbed:
      'the request times out and is sent again; depositd_poll_requests_total counts the outcome failed',
  },
  overchargeRate: {
    scope: 'deposits',
    does: 'charges twice the fee for a deposit, and states it',
    mismatch: 'fee_out_of_band',
    ends: 'person',
  },
  shortForwardRate: {
    scope: 'deposits',
    does: 'forwards a tenth less on the chain than the record and the webhooks state',
    mismatch: 'settlement_short',
    ends: 'person',
  },
  doubleForwardRate: {
    scope: 'deposits',
    does: 'forwards a deposit twice, and reports only one of the forwards',
    mismatch: 'settlement_unreported',
    ends: 'person',
  },
  lateForwardRate: {
    scope: 'deposits',
    does: 'forwards a deposit only after the delay',
    mismatch: 'settlement_missing',
    ends: 'time',
  },
  splitForwardRate: {
    scope: 'deposits',
    does: 'forwards a deposit in two transfers, and reports one transaction after the other',
    mismatch: null,
    absorbed:
      'every reported transaction counts, and both are judged together; the deposit shows two deliveries',
  },
  joinForwardRate: {
    scope: 'deposits',
    does: 'forwards several deposits to one recipient in one transfer; a single one waits for another until the delay ends',
    mismatch: null,
    absorbed:
      'each deposit gets its share if the stated amounts add up; each shows the same transaction as its delivery',
  },
  misdirectForwardRate: {
    scope: 'deposits',
    does: 'pays the forward to an address other than the approved one, and states that address',
    mismatch: 'recipient_mismatch',
    ends: 'person',
  },
} as const satisfies Record<string, FaultTableEntry>

type Table = typeof faultTable
type KnobOf<Wanted extends FaultScope> = {
  [Knob in keyof Table]: Table[Knob]['scope'] extends Wanted ? Knob : never
}[keyof Table]

export type FaultKnob = keyof Table
export type DepositKnob = KnobOf<'deposits'>
export type RequestKnob = KnobOf<'requests'>

export const faultKnobs = Object.keys(faultTable) as FaultKnob[]
