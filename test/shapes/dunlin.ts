import { createHmac } from 'node:crypto'
import {
  customerName,
  depositOf,
  fiatValue,
  isSame,
  keySetting,
  noBatch,
  numberFrom,
  type OurChannel,
  type OurDeposit,
  type OurEvent,
  type OurStatus,
  type OurWallet,
  payoutsOf,
  type Shape,
  sizeOf,
} from './shape.ts'

const name = 'dunlin'
/** Older requests are refused. */
const requestAgeMaxMs = 60_000

/** Offsets into a list with the oldest first, deep nesting, several payouts of one deposit, codes for networks and tokens, signed requests. */
export const dunlin: Shape = {
  name,
  title: 'offsets, oldest first, five levels deep, signed requests; a shared secret in a header',
  auth: {
    scheme: 'hmac',
    template: '{timestamp}{method}{path}{body}',
    secret: keySetting(name),
    encoding: 'base64',
    header: 'X-Dunlin-Signature',
    timestamp: { header: 'X-Dunlin-Time', unit: 'ms' },
  },
  isAuthorized({ method, url, headers }, key) {
    const time = String(headers['x-dunlin-time'])
    if (!(Math.abs(Date.now() - Number(time)) <= requestAgeMaxMs)) return false
    const expected = createHmac('sha256', key).update(`${time}${method}${url.pathname}${url.search}`)
    return isSame(headers['x-dunlin-signature'], expected.digest('base64'))
  },
  async answer({ url: { pathname, searchParams } }, service) {
    if (pathname === '/gateway/v3/movements')
      return rowsOf((await service.all('deposits')).toSorted(byCreation).map(movement), searchParams)
    if (pathname === '/gateway/v3/programs')
      return rowsOf((await service.all('channels')).toReversed().map(program), searchParams)
    if (pathname === '/gateway/v3/safes')
      return rowsOf((await service.all('wallets')).toReversed().map(safe), searchParams)
    return null
  },
  specification: {
    path: '/openapi.json',
    calls: {
      '/gateway/v3/movements': ['offset', 'limit'],
      '/gateway/v3/programs': ['offset', 'limit'],
      '/gateway/v3/safes': ['offset', 'limit'],
    },
  },
  batch: noBatch,
  payload: ([event]) => (event === undefined ? {} : envelope(event)),
  sign: ({ id }, key) => ({ 'x-dunlin-hook-secret': key, 'x-dunlin-delivery': id.replace('evt_', 'dlv-') }),
  webhookSecret: (key) => key,
}

function rowsOf(all: readonly object[], query: URLSearchParams) {
  const limit = sizeOf(query.get('limit'), { usual: 20, max: 100 })
  const offset = Math.max(Math.trunc(Number(query.get('offset') ?? 0)) || 0, 0)
  return { body: { result: { rows: all.slice(offset, offset + limit), total: all.length } } }
}

function byCreation(one: OurDeposit, other: OurDeposit): number {
  return Date.parse(one.created_at) - Date.parse(other.created_at) || (one.id < other.id ? -1 : 1)
}

const networks: Readonly<Record<string, string>> = {
  mainnet: 'ETH-MAIN',
  base: 'ETH-BASE',
  arbitrum: 'ETH-ARB',
  solana: 'SOL-MAIN',
}
/** Of a credit, which is on no chain. */
const internal = 'INTERNAL'

const phases: Readonly<Record<OurStatus, string>> = {
  detected: 'inbound.seen',
  confirmed: 'inbound.final',
  converting: 'exchange.running',
  forwarding: 'outbound.sent',
  settled: 'outbound.done',
  credited: 'balance.credited',
  held: 'compliance.hold',
  refunding: 'return.pending',
  refunded: 'return.refunded',
  failed: 'failed',
}

function movement({ source, destination, fee, refund, ...record }: OurDeposit): object {
  return {
    uid: record.id.replace('dep_', 'mv-'),
    serial: numberFrom(record.id, 2_000_000),
    lifecycle: {
      phase: { code: phases[record.status], note: record.reason },
      clock: { opened: { at: record.created_at }, changed: { at: record.updated_at } },
    },
    parties: {
      beneficiary: {
        account: {
          class: record.owner.type === 'channel' ? 'PROGRAM' : 'SAFE',
          key: record.owner.id,
          title: customerName(record.owner.id),
        },
      },
      payer: { wallet: { address: source.sender } },
    },
    flow: {
      inbound: {
        ledger: { network: { code: networks[source.network] }, block: Number(source.block) },
        target: { wallet: { address: source.address } },
        asset: assetOf(source),
        quantity: { minor: source.amount, worth: { eur: fiatValue(source.amount, source) } },
        proof: { transaction: { hash: source.transaction, slot: source.index, confirmed_at: source.time } },
      },
      outbound: {
        ledger: {
          network: { code: destination.network === null ? internal : networks[destination.network] },
        },
        target: { wallet: { address: destination.address } },
        asset: assetOf(destination),
        payouts: payoutsOf(destination).map(({ transaction, amount, time }) => ({
          quantity: { minor: amount },
          proof: { transaction: { hash: transaction, confirmed_at: time } },
        })),
      },
      returned: refund && {
        target: { wallet: { address: refund.address } },
        quantity: { minor: refund.amount },
        proof: { transaction: { hash: refund.transaction, confirmed_at: refund.time } },
      },
    },
    charges: {
      fee: fee && { amount: { minor: fee.amount, currency: fee.asset } },
      rate: { exact: record.rate },
    },
  }
}

type LegAsset = { network: string | null; asset: string; contract: string | null; decimals: number }

/** The code names the chain of a token, and is the symbol alone for the coin of a chain or of a balance. */
function assetOf({ network, asset, contract, decimals }: LegAsset): object {
  const chain = contract === null ? '' : `.${(network ?? '').charAt(0)}`
  return { token: { code: asset + chain, contract, precision: decimals } }
}

function program({ id, addresses, ...rule }: OurChannel): object {
  return {
    key: id,
    title: customerName(id),
    intake: { points: addresses.map(point) },
    payout: {
      ledger: { network: { code: networks[rule.forward_network] } },
      token: { symbol: rule.forward_asset_symbol },
      target: { wallet: { address: rule.forward_recipient } },
    },
  }
}

function safe({ stable_wallet: { id, deposit_addresses: addresses } }: OurWallet): object {
  return { key: id, title: customerName(id), intake: { points: addresses.map(point) } }
}

function point({ network, address }: { network: string; address: string }): object {
  return { network: { code: networks[network] }, wallet: { address } }
}

function envelope(event: OurEvent): object {
  const record = depositOf(event)
  return {
    id: event.id.replace('evt_', 'dn-'),
    action: record === null ? 'hook.tested' : 'movement.changed',
    created: { at: event.created_at },
    data: { object: record === null ? {} : movement(record) },
  }
}
