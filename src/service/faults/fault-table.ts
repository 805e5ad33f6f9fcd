/** The population of a rate: deposits, each permanently affected or not, or API requests, each drawn separately. */
type FaultScope = 'deposits' | 'requests'

/**
 * What resolves a mismatch: `time`, when a late item arrives; `resend` of the webhooks; a corrected `record`; or the
 * decision of a `person`.
 */
export type End = 'time' | 'resend' | 'record' | 'person'

/**
 * One error of the service under test. `mismatch` is the kind that depositd must report (docs/mismatches.md), and
 * `ends` what resolves it. `ofWallets` is a second kind, reported if the deposit is to a StableWallet. `ifRead` is a
 * second kind, reported if depositd had read the record before. `mismatch` is null if depositd tolerates the error;
 * `absorbed` then says why and how the error is still visible.
 */
type FaultTableEntry = { share: FaultScope; does: string } & (
  | { mismatch: string; ends: End; ofWallets?: string; ifRead?: string }
  | { mismatch: null; absorbed: string }
)

/** The errors that can be injected into the service: those that depositd exists to find. */
export const faultTable = {
  dropWebhookRate: {
    share: 'deposits',
    does: 'sends no webhook of a deposit, while the delivery log says that all were delivered',
    mismatch: 'webhook_missing',
    ends: 'resend',
  },
  doubleWebhookRate: {
    share: 'deposits',
    does: 'sends each webhook of a deposit twice',
    mismatch: null,
    absorbed: 'the same event is stored once; depositd_webhook_requests_total counts the outcome duplicate',
  },
  delayWebhookRate: {
    share: 'deposits',
    does: 'sends the webhooks of a deposit only after the delay',
    mismatch: 'webhook_missing',
    ends: 'time',
  },
  reorderWebhookRate: {
    share: 'deposits',
    does: 'sends a later webhook of a deposit before an earlier one',
    mismatch: null,
    absorbed: 'the furthest status counts, in any order; the evidence shows both',
  },
  corruptWebhookRate: {
    share: 'deposits',
    does: 'changes a byte of each webhook of a deposit after it was signed',
    mismatch: 'webhook_missing',
    ends: 'resend',
  },
  resignWebhookRate: {
    share: 'deposits',
    does: 'signs the webhooks of a deposit with an unknown secret',
    mismatch: 'webhook_missing',
    ends: 'resend',
  },
  editWebhookRate: {
    share: 'deposits',
    does: 'states another amount in the webhooks of a deposit, validly signed',
    mismatch: 'amount_mismatch',
    ends: 'person',
  },
  skewWebhookRate: {
    share: 'deposits',
    does: 'dates the webhooks of a deposit an hour ahead',
    mismatch: 'clock_skew',
    ends: 'person',
  },
  hideRecordRate: {
    share: 'deposits',
    does: 'never lists a deposit, while its webhooks are sent',
    mismatch: 'api_missing',
    ends: 'record',
    ofWallets: 'settlement_missing',
  },
  editRecordRate: {
    share: 'deposits',
    does: 'lists a deposit with another amount',
    mismatch: 'amount_mismatch',
    ends: 'record',
  },
  renameOwnerRate: {
    share: 'deposits',
    does: 'lists a deposit under an unknown owner',
    mismatch: 'unknown_owner',
    ends: 'record',
  },
  renameNetworkRate: {
    share: 'deposits',
    does: 'lists a deposit on another network of the same family than the one on which it was paid',
    mismatch: 'network_mismatch',
    ends: 'record',
  },
  removeRecordRate: {
    share: 'deposits',
    does: 'lists a deposit until it is confirmed, and never again after that',
    mismatch: 'api_missing',
    ends: 'record',
    ofWallets: 'settlement_missing',
    ifRead: 'record_disappeared',
  },
  dropTransactionRate: {
    share: 'deposits',
    does: 'names no transaction of the payment, neither in the webhooks nor in the record',
    mismatch: 'unreported',
    ends: 'person',
  },
  claimAgainRate: {
    share: 'deposits',
    does: 'reports a second deposit that claims the payment of a settled one, by a record and a webhook of its own',
    mismatch: 'tx_reused',
    ends: 'person',
  },
  regressStatusRate: {
    share: 'deposits',
    does: 'calls a deposit that is being forwarded confirmed again, in its record and its webhook, until it is settled',
    mismatch: 'status_regressed',
    ends: 'time',
  },
  reopenRate: {
    share: 'deposits',
    does: 'calls a settled deposit forwarded again after the delay, until the knob is turned back',
    mismatch: 'terminal_reopened',
    ends: 'person',
  },
  withholdRefundRate: {
    share: 'deposits',
    does: 'fails a deposit as too small instead of delivering it, and keeps what was paid',
    mismatch: 'refund_due',
    ends: 'person',
  },
  reorderRecordsRate: {
    share: 'requests',
    does: 'lists the deposits of a page in another order',
    mismatch: null,
    absorbed: 'a page is stored whole before its order is looked at; it is seen in the answer alone',
  },
  driftPageRate: {
    share: 'requests',
    does: 'answers short pages between which deposits shift, so that one comes twice or not at all',
    mismatch: null,
    absorbed:
      'what one poll passes over the next one reads, and what comes twice is stored once; it is seen in the answers alone',
  },
  refuseCallRate: {
    share: 'requests',
    does: 'answers 429 with a Retry-After, now and then an odd one',
    mismatch: null,
    absorbed: 'the request is sent again; depositd_poll_requests_total counts the outcome limited',
  },
  failCallRate: {
    share: 'requests',
    does: 'answers 500',
    mismatch: null,
    absorbed: 'the request is sent again; depositd_poll_requests_total counts the outcome failed',
  },
  stallCallRate: {
    share: 'requests',
    does: 'does not answer until the caller gives up',
    mismatch: null,
    absorbed:
      'the request ends by its time-out and is sent again; depositd_poll_requests_total counts the outcome failed',
  },
  overchargeRate: {
    share: 'deposits',
    does: 'keeps twice its fee of a deposit, and says so',
    mismatch: 'fee_out_of_band',
    ends: 'person',
  },
  shortForwardRate: {
    share: 'deposits',
    does: 'forwards a tenth less on the chain than the record and the webhooks claim',
    mismatch: 'settlement_short',
    ends: 'person',
  },
  doubleForwardRate: {
    share: 'deposits',
    does: 'forwards a deposit twice, and reports only the first forward',
    mismatch: 'settlement_unreported',
    ends: 'person',
  },
  lateForwardRate: {
    share: 'deposits',
    does: 'forwards a deposit only after the delay',
    mismatch: 'settlement_missing',
    ends: 'time',
  },
  splitForwardRate: {
    share: 'deposits',
    does: 'forwards a deposit in two transfers, and names one transaction after the other',
    mismatch: null,
    absorbed:
      'every transaction counts that was named, and both are judged together; it shows two deliveries',
  },
  joinForwardRate: {
    share: 'deposits',
    does: 'forwards several deposits to one recipient in one transfer; one alone waits for another until the delay is over',
    mismatch: null,
    absorbed:
      'each has its share if the stated amounts add up; each shows the same transaction as its delivery',
  },
  misdirectForwardRate: {
    share: 'deposits',
    does: 'pays the forward to another address than the approved one, and states that address',
    mismatch: 'recipient_mismatch',
    ends: 'person',
  },
} as const satisfies Record<string, FaultTableEntry>

type Table = typeof faultTable
type KnobOf<Wanted extends FaultScope> = {
  [Knob in keyof Table]: Table[Knob]['share'] extends Wanted ? Knob : never
}[keyof Table]

export type FaultKnob = keyof Table
export type DepositKnob = KnobOf<'deposits'>
export type RequestKnob = KnobOf<'requests'>

export const faultKnobs = Object.keys(faultTable) as FaultKnob[]
