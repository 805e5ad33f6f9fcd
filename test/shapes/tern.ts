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
  type OurService,
  type OurStatus,
  type OurWallet,
  type Shape,
  sizeOf,
} from './shape.ts'

const name = 'tern'

/** Snake case, nested legs, cursors in the body, base units as text, ISO times. */
export const tern: Shape = {
  name,
  title: 'cursors, base units as text, ISO times, bearer keys; HMAC of time and body in one header',
  auth: { scheme: 'header', header: 'Authorization', prefix: 'Bearer ', secret: keySetting(name) },
  isAuthorized: ({ headers }, key) => isSame(headers.authorization, `Bearer ${key}`),
  async answer({ url }, service) {
    const [, id] = /^\/v1\/deposits\/tdp_(\w+)$/.exec(url.pathname) ?? []
    if (id !== undefined) return { body: deposit(await service.deposit(`dep_${id}`)) }
    const list = lists[url.pathname]
    return list === undefined ? null : { body: await list(url.searchParams, service) }
  },
  specification: {
    path: '/v1/openapi.json',
    calls: {
      '/v1/deposits': ['page_size', 'page_token', 'updated_after'],
      '/v1/deposits/{deposit_id}': [],
      '/v1/forwarding_routes': ['page_size', 'page_token'],
      '/v1/vaults': ['page_size', 'page_token'],
    },
  },
  batch: noBatch,
  payload: ([event]) => (event === undefined ? {} : notification(event)),
  sign({ body, at }, key) {
    const seconds = Math.floor(at.getTime() / 1000)
    const proof = createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')
    return { 'user-agent': 'tern-hooks/3', 'tern-signature': `t=${seconds},v1=${proof}` }
  },
  webhookSecret: (key) => key,
}

type TernList = (query: URLSearchParams, service: OurService) => Promise<object>

const lists: Readonly<Record<string, TernList>> = {
  '/v1/deposits': async (query, service) => {
    const since = query.get('updated_after')
    const page = await service.page('deposits', {
      ...pageQuery(query),
      ...(since !== null && { updated_since: since }),
    })
    return { deposits: page.data.map(deposit), next_page_token: page.next_cursor ?? '' }
  },
  '/v1/forwarding_routes': async (query, service) => {
    const page = await service.page('channels', pageQuery(query))
    return { forwarding_routes: page.data.map(route), next_page_token: page.next_cursor ?? '' }
  },
  '/v1/vaults': async (query, service) => {
    const page = await service.page('wallets', pageQuery(query))
    return { vaults: page.data.map(vault), next_page_token: page.next_cursor ?? '' }
  },
}

function pageQuery(query: URLSearchParams): Record<string, string> {
  const token = query.get('page_token') ?? ''
  const limit = `${sizeOf(query.get('page_size'), { usual: 20, max: 50 })}`
  return { limit, ...(token !== '' && { cursor: token }) }
}

const networks: Readonly<Record<string, string>> = {
  mainnet: 'ethereum',
  base: 'base',
  arbitrum: 'arbitrum_one',
  solana: 'solana',
}

const states: Readonly<Record<OurStatus, string>> = {
  detected: 'pending_confirmation',
  confirmed: 'confirmed',
  converting: 'converting',
  forwarding: 'payout_broadcast',
  settled: 'payout_complete',
  credited: 'balance_credited',
  held: 'under_review',
  refunding: 'refund_in_progress',
  refunded: 'refunded',
  failed: 'failed',
}

function deposit({ source, destination, ...record }: OurDeposit): object {
  return {
    deposit_id: record.id.replace('dep_', 'tdp_'),
    internal_id: numberFrom(record.id, 9_000_000),
    customer: {
      display_name: customerName(record.owner.id),
      account_type: record.owner.type === 'channel' ? 'forwarding_route' : 'vault',
      account_id: record.owner.id,
    },
    state: states[record.status],
    state_reason: record.reason,
    legs: {
      pay_in: {
        network: networks[source.network],
        address: source.address,
        token: { symbol: source.asset, contract_address: source.contract, decimals: source.decimals },
        amount: source.amount,
        tx_hash: source.transaction,
        transfer_index: source.index,
        sender_address: source.sender,
        block_number: source.block,
        block_time: source.time,
        confirmations: numberFrom(record.id, 40),
      },
      pay_out: {
        network: destination.network === null ? null : networks[destination.network],
        address: destination.address,
        token: {
          symbol: destination.asset,
          contract_address: destination.contract,
          decimals: destination.decimals,
        },
        amount: destination.amount,
        tx_hash: destination.transaction,
        completed_time: destination.time,
      },
    },
    fee: record.fee === null ? null : { amount: record.fee.amount, symbol: record.fee.asset },
    quote: { rate: record.rate, fiat: { currency: 'EUR', amount: fiatValue(source.amount, source) } },
    refund:
      record.refund === null
        ? null
        : {
            address: record.refund.address,
            amount: record.refund.amount,
            tx_hash: record.refund.transaction,
            completed_time: record.refund.time,
          },
    created_time: record.created_at,
    updated_time: record.updated_at,
  }
}

function route({ id, addresses, ...rule }: OurChannel): object {
  return {
    route_id: id,
    display_name: customerName(id),
    deposit_addresses: addresses.map(placed),
    forwards_to: {
      network: networks[rule.forward_network],
      token_symbol: rule.forward_asset_symbol,
      address: rule.forward_recipient,
    },
    active: true,
  }
}

function vault({ stable_wallet: { id, deposit_addresses: addresses } }: OurWallet): object {
  return { vault_id: id, display_name: customerName(id), deposit_addresses: addresses.map(placed) }
}

function placed({ network, address }: { network: string; address: string }): object {
  return { network: networks[network], address }
}

function notification(event: OurEvent): object {
  const record = depositOf(event)
  return {
    event_id: event.id.replace('evt_', 'tev_'),
    event_type: record === null ? 'endpoint.verification' : `deposit.${states[record.status]}`,
    api_version: '2026-03-01',
    sent_time: event.created_at,
    ...(record !== null && { deposit: deposit(record) }),
  }
}
