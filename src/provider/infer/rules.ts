import type { ValueFormat } from './columns.ts'

export type LegSide = 'deposit' | 'settlement'

export type FieldRule = {
  form: ValueFormat
  names: readonly string[]
  /** Names of enclosing objects that support the match equally. */
  within?: readonly string[]
  /** One of these is required, unless the values prove the match. */
  must?: readonly string[]
  others?: readonly string[]
  leg?: LegSide
}

const owners = words('owner channel beneficiary customer user holder merchant account')
const identity = words('id uuid guid reference ref key number code')
const time = words('at time timestamp date on ms ts')
const amounts = words('amount value qty quantity sum total units')
export const networkNames = words('network chain blockchain rail chainid networkid')
const assets = words('contract token asset mint currency coin symbol ticker')
const addresses = words('address addr wallet recipient account to')
const senders = words('sender payer from origin customer refund return')
const transactions = words('transaction tx hash txid txhash signature transactionhash')
const refunds = words('refund refunds refunded return returned returns reversal')
const fees = words('fee fees commission cost charge charges')
const notAmounts = [...fees, 'rate', 'price', 'decimals', 'block', 'height', 'confirmations', 'index', 'gas']
const changed = words('updated changed modified last')
const made = words('created opened initiated made started first inserted detected')

export const envelopeRules = {
  id: { form: 'token', names: identity, within: words('event notification delivery message webhook') },
  kind: { form: 'word', names: ['type', 'event', 'kind', 'topic', 'action', 'name'] },
  occurredAt: { form: 'time', names: [...time, ...made, 'sent', 'occurred'] },
} as const satisfies Record<string, FieldRule>

export const recordRules = {
  id: { form: 'token', names: [...identity, 'deposit', 'transfer', 'payment'], others: owners },
  'owner.kind': { form: 'word', names: ['type', 'kind', 'class'], within: owners, must: owners },
  'owner.id': { form: 'token', names: [...identity, ...owners], within: owners, must: owners },
  status: { form: 'word', names: ['status', 'state', 'phase', 'stage', 'step', 'progress'] },
  createdAt: { form: 'time', names: [...time, ...made], others: changed },
  occurredAt: { form: 'time', names: [...time, ...changed], others: made },
  'deposit.address': { form: 'address', names: addresses, others: [...senders, ...assets], leg: 'deposit' },
  'deposit.transaction': { form: 'transaction', names: transactions, leg: 'deposit' },
  'deposit.network': { form: 'token', names: networkNames, leg: 'deposit' },
  'deposit.asset': { form: 'token', names: assets, others: fees, leg: 'deposit' },
  'deposit.amount': { form: 'amount', names: amounts, others: notAmounts, leg: 'deposit' },
  'deposit.index': {
    form: 'place',
    names: ['index', 'position', 'log', 'logindex', 'vout', 'output', 'place'],
    leg: 'deposit',
  },
  'settlement.address': {
    form: 'token',
    names: addresses,
    others: [...senders, ...assets],
    leg: 'settlement',
  },
  'settlement.transaction': { form: 'transaction', names: transactions, leg: 'settlement' },
  'settlement.network': { form: 'token', names: networkNames, leg: 'settlement' },
  'settlement.asset': { form: 'token', names: assets, others: fees, leg: 'settlement' },
  'settlement.amount': { form: 'amount', names: amounts, others: notAmounts, leg: 'settlement' },
  'settlement.fee': {
    form: 'amount',
    names: fees,
    within: fees,
    others: ['rate', 'basis', 'bps', 'percent'],
  },
  'refund.transaction': { form: 'transaction', names: transactions, within: refunds, must: refunds },
} as const satisfies Record<string, FieldRule>

export type RecordField = keyof typeof recordRules
export type EnvelopeField = keyof typeof envelopeRules

/** `its` support the leg, `others` speak against it. */
export type LegNames = Record<LegSide, { its: readonly string[]; others: readonly string[] }>

const paidNames = words(
  'deposit deposited source src in incoming inbound input received paid payment pay origin inflow funding',
)
const deliveredNames = words(
  'settlement settled destination dest dst out outgoing outbound output forward forwarded payout delivery ' +
    'delivered target credit credited sent withdrawal outflow',
)

export const twoLegs: LegNames = {
  deposit: { its: paidNames, others: deliveredNames },
  settlement: { its: deliveredNames, others: paidNames },
}

/** The source of the single transfer is the payer, its destination the deposit. */
export const oneLeg: LegNames = {
  deposit: {
    its: words(
      'deposit in incoming inbound received to destination destinations dest dst receiver recipient',
    ),
    others: words('source sources src from sender payer origin external refund'),
  },
  settlement: { its: [], others: [] },
}

export const transactionNames: readonly string[] = transactions
export const refundNames: readonly string[] = refunds

function words(text: string): string[] {
  return text.split(' ')
}
