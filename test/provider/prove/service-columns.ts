import type { Asset } from '../../../src/core/asset.ts'
import { type Random } from './random.ts'
import { assetCodes, type ShapeStyle, words } from './service-style.ts'
import { type MadeDeposit, unitsOf } from './shapes.ts'

/** The fields of a made-up service, and fields that look like them. */

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

export type FieldGroup = 'root' | 'in' | 'out' | 'owner'

export type ShapeColumn = {
  /** Null for a field that the profile does not have. */
  field: string | null
  group: FieldGroup
  names: readonly string[]
  value: (deposit: MadeDeposit, step: number) => unknown
}

const absence = (style: ShapeStyle) => ({ null: null, empty: '', missing: undefined })[style.absent]

function amountWriter(style: ShapeStyle): (amount: bigint, asset: Asset) => unknown {
  const write: Record<ShapeStyle['amount'], (amount: bigint, decimals: number) => unknown> = {
    'base-text': (amount) => amount.toString(),
    'own-decimals': (amount) => amount.toString(),
    'base-number': (amount) => rawJSON(amount.toString()),
    'units-text': unitsOf,
    'units-number': (amount, decimals) => rawJSON(unitsOf(amount, decimals)),
    eighteen: (amount, decimals) => (amount * 10n ** BigInt(18 - decimals)).toString(),
  }
  return (amount, { decimals }) => write[style.amount](amount, decimals)
}

export function timeWriter(style: ShapeStyle): (at: Date) => unknown {
  return {
    iso: (at: Date) => at.toISOString(),
    utc: (at: Date) => at.toISOString().replace('T', ' ').replace('Z', ''),
    ms: (at: Date) => at.getTime(),
    s: (at: Date) => Math.floor(at.getTime() / 1000),
  }[style.time]
}

const codeOf = ({ key }: Asset) => key.slice(key.indexOf('/') + 1)

export function isDelivered(deposit: MadeDeposit, step: number, style: ShapeStyle): boolean {
  const last = deposit.steps.length - 1
  return deposit.delivery !== null && (step === last || (style.isEarlyDelivery && step === last - 1))
}

export function legColumns(style: ShapeStyle, side: 'deposit' | 'settlement'): ShapeColumn[] {
  const group = side === 'deposit' ? 'in' : 'out'
  const amount = amountWriter(style)
  const assetOf = (deposit: MadeDeposit) =>
    side === 'deposit' ? deposit.asset : deposit.owner.forward?.asset
  const ofAsset = (write: (asset: Asset) => unknown) => (deposit: MadeDeposit) => {
    const asset = assetOf(deposit)
    return asset === undefined ? absence(style) : write(asset)
  }
  const column = (name: string, value: ShapeColumn['value'], field: string | null = `${side}.${name}`) => ({
    field,
    group: group as FieldGroup,
    names: words(name),
    value,
  })
  const contract = column(
    'asset',
    ofAsset((asset) => (codeOf(asset) === 'native' ? absence(style) : codeOf(asset))),
  )
  const symbol = {
    ...column(
      'asset',
      ofAsset(({ symbol: text }) => text),
    ),
    names: words('symbol'),
  }
  const code = {
    ...column(
      'asset',
      ofAsset(({ symbol: text }) => assetCodes[text]),
    ),
    names: words('symbol'),
  }
  const assets = { contract: [contract], both: [contract, symbol], symbol: [symbol], code: [code] }
  const isNetworkLeft = style.isOneNetworkColumn && side === 'settlement'
  return [
    ...assets[style.asset],
    ...(isNetworkLeft
      ? []
      : [
          column(
            'network',
            ofAsset(({ network }) => style.networks[network]),
          ),
        ]),
    column('address', (deposit) => {
      if (side === 'deposit') return deposit.payment.to
      return deposit.owner.forward?.recipient ?? deposit.owner.id
    }),
    column('amount', (deposit, step) => {
      if (side === 'deposit') return amount(deposit.payment.amount, deposit.asset)
      const { delivery } = deposit
      return delivery !== null && isDelivered(deposit, step, style)
        ? amount(delivery.transfer.amount, delivery.asset)
        : absence(style)
    }),
    column('transaction', (deposit, step) => {
      if (side === 'deposit')
        return style.isLateTransaction && step === 0 ? absence(style) : deposit.payment.tx
      return isDelivered(deposit, step, style) ? deposit.delivery?.transfer.tx : absence(style)
    }),
    ...(style.amount === 'own-decimals'
      ? [
          column(
            'decimals',
            ofAsset(({ decimals }) => decimals),
            null,
          ),
        ]
      : []),
    ...(side === 'deposit' && style.hasIndex ? [column('index', ({ payment }) => payment.index)] : []),
    ...(side === 'settlement' && style.hasFee
      ? [
          column('fee', (deposit, step) => {
            const { delivery } = deposit
            return delivery !== null && isDelivered(deposit, step, style)
              ? amount(delivery.fee, delivery.asset)
              : absence(style)
          }),
        ]
      : []),
  ]
}

export function rootColumns(style: ShapeStyle): ShapeColumn[] {
  const time = timeWriter(style)
  const root = (field: string, value: ShapeColumn['value'], group: FieldGroup = 'root'): ShapeColumn => ({
    field,
    group,
    names: words(field),
    value,
  })
  const asStatus = (word: string) => (style.statusAsNumber && /^\d+$/.test(word) ? Number(word) : word)
  return [
    root('id', ({ id, number }) => (style.isNumericId ? 4000 + number : id)),
    root('status', ({ steps }, step) => asStatus(steps[step]?.word ?? '')),
    ...(style.hasCreatedAt ? [root('createdAt', ({ createdAt }) => time(createdAt))] : []),
    ...(style.hasOccurredAt
      ? [root('occurredAt', ({ steps }, step) => time(steps[step]?.at ?? new Date(0)))]
      : []),
    ...(style.hasRefund
      ? [
          root('refund.transaction', ({ refund, steps }, step) =>
            refund !== null && step === steps.length - 1 ? refund.tx : absence(style),
          ),
        ]
      : []),
    ...(style.hasOwner
      ? [
          root('owner.id', ({ owner }) => owner.id, 'owner'),
          root('owner.kind', ({ owner }) => (owner.kind === 'channel' ? 'CH' : 'SW'), 'owner'),
        ]
      : []),
  ]
}

function isSettled({ steps }: MadeDeposit, step: number): boolean {
  return steps[step]?.meaning === 'settled'
}

/** Fields that look like others. */
export function distractorColumns(random: Random, style: ShapeStyle): ShapeColumn[] {
  const time = timeWriter(style)
  const amount = amountWriter(style)
  const rate: Readonly<Record<string, bigint>> = { USDC: 1n, USDT: 1n, DAI: 1n, ETH: 2500n, SOL: 150n }
  const usd = (deposit: MadeDeposit) =>
    unitsOf(deposit.payment.amount * (rate[deposit.asset.symbol] ?? 1n), deposit.asset.decimals)
  const column = (name: string, group: FieldGroup, value: ShapeColumn['value']): ShapeColumn => ({
    field: null,
    group,
    names: [name],
    value,
  })
  const all = [
    column('internal_number', 'root', ({ number }) => number),
    column('user_id', 'root', ({ owner }) => owner.id.length * 7 + 3),
    column('block_number', 'in', ({ payment }) => Number(payment.height)),
    column('confirmations', 'in', (_deposit, step) => Math.min(step * 6, 12)),
    column('usd_value', 'in', usd),
    column('requested_amount', 'in', (deposit) =>
      amount(deposit.payment.amount - (deposit.number % 5 === 0 ? 1n : 0n), deposit.asset),
    ),
    column('gross_amount', 'in', (deposit) => amount(deposit.payment.amount, deposit.asset)),
    column('from_address', 'in', ({ payer }) => payer),
    column('sweep_hash', 'in', ({ sweepTx }) => sweepTx),
    column('gas_fee', 'out', ({ number }) => `0.00${(number % 7) + 1}`),
    column('screening', 'root', (_deposit, step) => (step === 0 ? 'pending' : 'clear')),
    column('is_final', 'root', (deposit, step) => isSettled(deposit, step)),
    column('status_group', 'root', (deposit, step) => (isSettled(deposit, step) ? 'CLOSED' : 'OPEN')),
    column('chain_family', 'in', ({ asset }) => (asset.network === 'solana' ? 'svm' : 'evm')),
    column('expires_at', 'root', ({ createdAt }) => time(new Date(createdAt.getTime() + 86_400_000))),
    column('block_time', 'in', ({ payment }) => time(payment.blockAt)),
    column('order_reference', 'root', ({ reference }) => reference),
    column('tenant', 'owner', () => 'acme'),
    column('parent_account', 'owner', ({ owner }) => `parent-${owner.kind}`),
    column('api_version', 'root', () => 'v2'),
    column('retry_count', 'root', (_deposit, step) => step % 2),
    column('home_network', 'owner', () => style.networks.base),
    column('fee_asset', 'out', (deposit) => deposit.owner.forward?.asset.symbol ?? absence(style)),
    column('memo', 'in', () => ''),
    column('short_code', 'root', ({ number }) => 100 + ((number * 37) % 900)),
  ]
  return all.filter(() => random.chance(style.distractors))
}
