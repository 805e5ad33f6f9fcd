import { type MismatchKind, mismatchKinds } from '../core/mismatch.ts'
import { formatAmount } from '../core/money.ts'

export type AssetLabels = Readonly<Record<string, { symbol: string; network: string; decimals: number }>>

/** Amounts are in base units of `asset`, or of the asset of the loss. */
export type StatedMismatch = {
  kind: string
  detail: Readonly<Record<string, string>>
  loss_asset?: string | null
  assets?: AssetLabels
}

export function mismatchSentence(mismatch: StatedMismatch): string {
  return sentenceOf(mismatch.kind)(sentenceHelpers(mismatch))
}

/** The database may hold a kind of an older version. */
function sentenceOf(kind: string): (said: SentenceHelpers) => string {
  return Object.hasOwn(mismatchKinds, kind) ? sentences[kind as MismatchKind] : generic
}

/** In units, null if the asset is unknown, and in base units. */
export type DocumentAmount = {
  amount: string | null
  amount_base: string
  asset_symbol: string | null
  asset: string
}

export function documentAmount(asset: string, base: bigint, assets: AssetLabels): DocumentAmount {
  const known = assets[asset]
  return {
    amount: known === undefined ? null : formatAmount(base, known.decimals),
    amount_base: base.toString(),
    asset_symbol: known?.symbol ?? null,
    asset,
  }
}

export type AmountAsset = { asset: string | null; assets: AssetLabels }

/** `name` begins the names of all fields: `loss`, `loss_base`, `loss_asset_symbol`, `loss_asset`. */
export function amountFields(name: string, base: bigint | null, { asset, assets }: AmountAsset): object {
  const reported = base === null || asset === null ? null : documentAmount(asset, base, assets)
  return {
    [name]: reported?.amount ?? null,
    [`${name}_base`]: base,
    [`${name}_asset_symbol`]: reported?.asset_symbol ?? null,
    [`${name}_asset`]: reported?.asset ?? null,
  }
}

export function amountsOfDetail(mismatch: StatedMismatch): Readonly<Record<string, DocumentAmount>> {
  const said = sentenceHelpers(mismatch)
  sentenceOf(mismatch.kind)(said)
  return said.amounts
}

const namedAmount = /(\d+) of ([a-z0-9-]+\/[A-Za-z0-9]+)/g

/** Amounts like `11988000 of solana/5HZy…`, in order. */
export function amountsNamed(text: string, assets: AssetLabels): DocumentAmount[] {
  return [...text.matchAll(namedAmount)].map(([, base = '', asset = '']) =>
    documentAmount(asset, BigInt(base), assets),
  )
}

/** `11988000 of solana/5HZy…` becomes `11.988 USDC on solana`. */
export function amountsInUnits(text: string, assets: AssetLabels): string {
  return text.replaceAll(namedAmount, (whole, amount: string, key: string) => {
    const asset = assets[key]
    return asset === undefined
      ? whole
      : `${unitsText(amount, asset.decimals)} ${asset.symbol} on ${asset.network}`
  })
}

/** Thousands separators, no trailing zeros. */
export function decimalText(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.')
  const end = fraction.replace(/0+$/, '')
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')}${end === '' ? '' : `.${end}`}`
}

function unitsText(amount: string, decimals: number): string {
  return decimalText(formatAmount(BigInt(amount), decimals))
}

type SentenceHelpers = ReturnType<typeof sentenceHelpers>

function sentenceHelpers({ detail, loss_asset: lossAsset, assets = {} }: StatedMismatch) {
  const word = (name: string) => amountsInUnits(detail[name] ?? '?', assets)
  const amounts: Record<string, DocumentAmount> = {}
  /** Without its symbol; `of` is the field that names the asset. */
  const bare = (name: string, of = 'asset') => {
    const key = detail[of] ?? lossAsset ?? ''
    const asset = assets[key]
    const amount = detail[name]
    if (amount === undefined || !/^-?\d+$/.test(amount)) return amount ?? 'an unknown amount'
    amounts[name] = documentAmount(key, BigInt(amount), assets)
    return asset === undefined ? 'an amount of an unknown asset' : unitsText(amount, asset.decimals)
  }
  const symbol = (of = 'asset') => assets[detail[of] ?? lossAsset ?? '']?.symbol ?? ''
  const amount = (name: string, of = 'asset') => `${bare(name, of)} ${symbol(of)}`.trimEnd()
  const asset = (name: string) => {
    const known = assets[detail[name] ?? '']
    return known === undefined ? word(name) : `${known.symbol} on ${known.network}`
  }
  return {
    detail,
    amounts,
    has: (name: string) => detail[name] !== undefined,
    word,
    bare,
    amount,
    asset,
    excess: (large: string, small: string) => {
      const known = assets[detail.asset ?? lossAsset ?? '']
      const [one, other] = [detail[large] ?? '0', detail[small] ?? '0']
      return known === undefined
        ? 'an unknown amount'
        : `${unitsText((BigInt(one) - BigInt(other)).toString(), known.decimals)} ${known.symbol}`
    },
    each: (show: (name: string) => string) =>
      Object.entries(sourceNames)
        .filter(([name]) => detail[name] !== undefined)
        .map(([name, source]) => `${source} ${show(name)}`)
        .join(', '),
  }
}

const sourceNames = {
  webhook: 'webhook',
  api: 'API',
  chain: 'chain',
  settlementWebhook: 'webhook (delivery)',
  settlementApi: 'API (delivery)',
  settlementChain: 'chain (delivery)',
  stated: 'the service states',
  delivered: 'the chain shows',
} as const

function overdue({ word }: SentenceHelpers): string {
  const what = word('what')
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} since ${word('since')}`
}

function searched(said: SentenceHelpers): string {
  const { has, word } = said
  const names = ['proof', 'reason', 'found', 'next'].filter(has)
  return [overdue(said), ...names.map((name) => (name === 'next' ? `Next: ${word(name)}` : word(name)))].join(
    '. ',
  )
}

function generic({ detail, word }: SentenceHelpers): string {
  const names = Object.keys(detail)
  return names.map((name) => `${name} ${word(name)}`).join(', ')
}

function statuses({ word, has }: SentenceHelpers): string {
  return has('source')
    ? `The ${sourceNames[word('source') as 'api'] ?? word('source')} reported ${word('reported')}, and now reports ${word('now')}`
    : `The webhook reports ${word('webhook')}, the API reports ${word('api')}`
}

function unreadable({ detail, word }: SentenceHelpers): string {
  const path = detail.path === '' ? 'the payload' : word('path')
  const samples = detail.source === 'api' ? '--records' : '--webhooks'
  return [
    `${word('source')}: ${path}: ${word('problem')}`,
    `Next: correct the profile, check it with "bin/depositd profile test PROFILE ${samples} SAMPLE", and save it: the daemon follows and applies what was stored`,
  ].join('. ')
}

const sentences: Readonly<Record<MismatchKind, (said: SentenceHelpers) => string>> = {
  webhook_missing: overdue,
  api_missing: overdue,
  chain_missing: searched,
  not_covered: searched,
  unreported: overdue,
  settlement_missing: searched,
  refund_due: overdue,
  settlement_unreported: ({ amount, word }) =>
    `${amount('amount')} reached ${word('recipient')} and belongs to no reported deposit: ${word('transfer')}`,
  withdrawal_unproved: ({ word, amount }) =>
    `Withdrawal ${word('withdrawal')} of ${word('wallet')} over ${amount('amount')}: ${word('problem')}`,
  wallet_balance_mismatch: ({ has, word, amount, bare }) =>
    `The balance of ${word('wallet')} differs from the books by ${amount('difference')}${has('balance') ? `: the service states ${bare('balance')}, the books hold ${bare('books')} with ${bare('leaving')} leaving and ${bare('arriving')} arriving` : ''}`,
  amount_mismatch: ({ each, amount }) => `Amounts differ: ${each((name) => amount(name))}`,
  asset_mismatch: ({ each, asset }) => `Assets differ: ${each(asset)}`,
  settlement_short: ({ excess, bare }) =>
    `Short by ${excess('stated', 'delivered')}: the service states ${bare('stated')}, the chain shows ${bare('delivered')}`,
  settlement_over: ({ excess, bare }) =>
    `Over by ${excess('delivered', 'stated')}: the service states ${bare('stated')}, the chain shows ${bare('delivered')}`,
  decimals_mismatch: ({ each, amount }) =>
    `Amounts differ by a power of ten: ${each((name) => amount(name))}`,
  fee_out_of_band: ({ has, amount, word }) =>
    has('paid')
      ? `Kept ${word('kept')}, allowed ${word('allowed')} by ${word('policy')}: paid ${amount('paid', 'paidAsset')}, delivered ${amount('delivered')}`
      : `Kept ${amount('kept')}, allowed ${amount('allowed')} by ${word('policy')}`,
  recipient_mismatch: ({ word }) => `Goes to ${word('stated')}, approved is ${word('approved')}`,
  address_changed: ({ word, has }) =>
    `${word('owner')}: approved is ${word('approved')}, the service states ${word(has('address') ? 'address' : 'stated')}`,
  unknown_address: ({ has, word }) =>
    has('block')
      ? `${word('address')} on ${word('network')} is valid for ${word('owner')}${has('from') ? ` from ${word('from')}` : ''}${has('until') ? ` until ${word('until')}` : ''}, and was paid in a block of ${word('block')}`
      : `${word('address')} on ${word('network')} is not in the address book`,
  unknown_owner: ({ word }) =>
    `The service names ${word('stated')}, the address belongs to ${word('approved')}`,
  service_mismatch: ({ word }) =>
    `${word('service')} claims ${word('address')} on ${word('network')}, which belongs to ${word('owner')}`,
  conflicting_duplicate: ({ word }) => `Webhook ${word('event')} came with the bodies ${word('bodies')}`,
  network_mismatch: ({ each, word }) => `Networks of the ${word('leg')} differ: ${each(word)}`,
  tx_reused: ({ word }) => `The transfer ${word('transfer')} has paid ${word('deposit')}`,
  ambiguous_match: ({ has, amount, word }) =>
    has('delivered')
      ? `The service states ${amount('stated')} for ${word('deposits')}, the chain shows ${amount('delivered')}: ${word('transfers')}`
      : `Several fit as ${word('role')}: deposits ${word('deposits')}, transfers ${word('transfers')}`,
  unknown_outflow: ({ word, amount }) =>
    `${amount('amount')} left the deposit address ${word('address')} for ${word('recipient')}, which is not known, by ${word('tx')}`,
  stuck: ({ word }) => `In the state ${word('state')} since ${word('since')}`,
  conversion_open: ({ word, amount }) =>
    `${amount('amount')} left transit at ${word('since')}, and what is owed for it has not moved into the asset delivered`,
  status_regressed: statuses,
  status_conflict: statuses,
  terminal_reopened: statuses,
  clock_skew: ({ has, word }) =>
    has('received')
      ? `The ${word('source')} states ${word('states')}, and was received at ${word('received')}`
      : `The ${word('source')} states ${word('states')}, the payment was made at ${word('paid')}`,
  orphaned_after_booking: ({ word }) => `${word('transfer')} is gone; its block was ${word('block')}`,
  unexplained_balance: ({ amount, word, has }) =>
    `The balance of ${word('address')} changed by ${amount('change')} without a known transfer, in block ${word('blocks')}${has('problem') ? ` (${word('problem')})` : ''}`,
  history_lost: generic,
  rpc_disagreement: generic,
  coverage_gap: generic,
  tx_failed: ({ word }) =>
    `The transaction of the ${word('leg')} failed at height ${word('height')}: ${word('transaction')}`,
  below_minimum: ({ amount, word }) =>
    `Paid ${amount('amount')}, the minimum is ${amount('minimum')} by ${word('policy')}`,
  unsupported_token: ({ amount, asset, word }) =>
    `Paid ${amount('amount')}; ${asset('asset')} is not accepted by ${word('policy')}`,
  record_disappeared: generic,
  unknown_event: unreadable,
  unknown_status: unreadable,
  schema_drift: unreadable,
  ledger_imbalance: ({ has, amount, word }) =>
    [
      ...(has('sum') ? [`The accounts sum to ${amount('sum')}`] : []),
      ...(has('left')
        ? [
            `${amount('left')} left in transit of ${word('deposits')} closed deposits, as deposit ${word('deposit')}`,
          ]
        : []),
      ...(has('untied')
        ? [`${amount('untied')} not tied to balances of ${word('addresses')} addresses`]
        : []),
      ...(has('found') ? [word('found')] : []),
    ].join('; '),
  seal_broken: generic,
}
