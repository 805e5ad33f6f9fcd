import { createHash, createHmac } from 'node:crypto'
import {
  customerName,
  depositOf,
  exactNumber,
  fiatValue,
  isSame,
  keySetting,
  numberFrom,
  type OurChannel,
  type OurDeposit,
  type OurEvent,
  type OurPage,
  type OurStatus,
  type OurWallet,
  type Shape,
  sizeOf,
} from './shape.ts'

const name = 'heron'
const workspace = 'main'

/** Resources with attributes and relationships, a link in the body, base units as numbers, times without a zone. */
export const heron: Shape = {
  name,
  title: 'links in the body, attributes, base units as JSON numbers, UTC without a zone; events in batches',
  auth: {
    scheme: 'header',
    header: 'X-Heron-Key',
    secret: keySetting(name),
    headers: { 'X-Heron-Workspace': workspace },
  },
  isAuthorized: ({ headers }, key) =>
    isSame(headers['x-heron-key'], key) && headers['x-heron-workspace'] === workspace,
  async answer({ url }, service) {
    const [, id] = /^\/v2\/deposits\/hd-(\w+)$/.exec(url.pathname) ?? []
    if (id !== undefined) return { body: { data: resource(await service.deposit(`dep_${id}`)) } }
    const query = pageQuery(url.searchParams)
    if (url.pathname === '/v2/deposits') return linked(url, await service.page('deposits', query), resource)
    if (url.pathname === '/v2/payout-routes')
      return linked(url, await service.page('channels', query), payoutRoute)
    if (url.pathname === '/v2/custody-accounts')
      return linked(url, await service.page('wallets', query), custodyAccount)
    return null
  },
  specification: {
    path: '/v2/openapi.json',
    calls: {
      '/v2/deposits': ['page[size]', 'page[cursor]'],
      '/v2/deposits/{id}': [],
      '/v2/payout-routes': ['page[size]', 'page[cursor]'],
      '/v2/custody-accounts': ['page[size]', 'page[cursor]'],
    },
  },
  batch: { max: 3, withinMs: 300 },
  payload: (events) => ({ events: events.map(change) }),
  sign({ id, body, at }, key) {
    const delivery = `hb_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
    const seconds = Math.floor(at.getTime() / 1000).toString()
    const proof = createHmac('sha256', signingKey(key))
      .update(`${delivery}.${seconds}.${body}`)
      .digest('base64')
    return {
      'heron-hook-id': delivery,
      'heron-hook-timestamp': seconds,
      'heron-hook-signature': `v1,${proof}`,
    }
  },
  webhookSecret: (key) => `whsec_${signingKey(key).toString('base64')}`,
}

function signingKey(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function pageQuery(query: URLSearchParams): Record<string, string> {
  const cursor = query.get('page[cursor]')
  const limit = `${sizeOf(query.get('page[size]'), { usual: 10, max: 40 })}`
  return { limit, ...(cursor !== null && { cursor }) }
}

function linked<Item>(url: URL, page: OurPage<Item>, show: (item: Item) => object) {
  const next = new URL(url)
  if (page.next_cursor !== null) next.searchParams.set('page[cursor]', page.next_cursor)
  const links = { self: url.href, next: page.next_cursor === null ? null : next.href }
  return { body: { data: page.data.map(show), links } }
}

/** Names of chains according to CAIP-2. */
const chains: Readonly<Record<string, string>> = {
  mainnet: 'eip155:1',
  base: 'eip155:8453',
  arbitrum: 'eip155:42161',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
}

const stages: Readonly<Record<OurStatus, string>> = {
  detected: 'initiated',
  confirmed: 'verified',
  converting: 'exchanging',
  forwarding: 'dispatched',
  settled: 'completed',
  credited: 'completed-internally',
  held: 'suspended',
  refunding: 'reversing',
  refunded: 'reversed',
  failed: 'declined',
}

function resource({ source, destination, fee, refund, ...record }: OurDeposit): object {
  return {
    type: 'deposits',
    id: record.id.replace('dep_', 'hd-'),
    attributes: {
      rowNumber: numberFrom(record.id, 700_000),
      stage: stages[record.status],
      stageReason: record.reason,
      source: {
        chain: chains[source.network],
        account: source.address,
        currency: source.asset,
        mint: source.contract,
        exponent: source.decimals,
        value: exactNumber(source.amount),
        valueEur: fiatValue(source.amount, source),
        hash: source.transaction,
        outputIndex: source.index,
        sender: source.sender,
        blockHeight: Number(source.block),
        blockTime: utc(source.time),
      },
      target: {
        chain: destination.network && chains[destination.network],
        account: destination.address,
        currency: destination.asset,
        mint: destination.contract,
        exponent: destination.decimals,
        value: destination.amount && exactNumber(destination.amount),
        hash: destination.transaction,
        blockTime: utc(destination.time),
      },
      serviceCharge: fee && { currency: fee.asset, value: exactNumber(fee.amount) },
      conversionRate: record.rate,
      reversal: refund && {
        account: refund.address,
        value: exactNumber(refund.amount),
        hash: refund.transaction,
        blockTime: utc(refund.time),
      },
      createdAt: utc(record.created_at),
      updatedAt: utc(record.updated_at),
    },
    relationships: {
      owner: {
        data: {
          type: record.owner.type === 'channel' ? 'payout-routes' : 'custody-accounts',
          id: record.owner.id,
        },
        meta: { label: customerName(record.owner.id) },
      },
    },
  }
}

function utc(time: string | null): string | null {
  return time?.replace('Z', '') ?? null
}

function payoutRoute({ id, addresses, ...rule }: OurChannel): object {
  return {
    type: 'payout-routes',
    id,
    attributes: {
      label: customerName(id),
      receivingAccounts: addresses.map(receivingAccount),
      payout: {
        chain: chains[rule.forward_network],
        currency: rule.forward_asset_symbol,
        account: rule.forward_recipient,
      },
    },
  }
}

function custodyAccount({ stable_wallet: { id, deposit_addresses: addresses } }: OurWallet): object {
  return {
    type: 'custody-accounts',
    id,
    attributes: { label: customerName(id), receivingAccounts: addresses.map(receivingAccount) },
  }
}

function receivingAccount({ network, address }: { network: string; address: string }): object {
  return { chain: chains[network], account: address }
}

function change(event: OurEvent): object {
  const record = depositOf(event)
  return {
    eventId: event.id.replace('evt_', 'he-'),
    eventName: record === null ? 'hook.check' : `deposit.${stages[record.status]}`,
    happenedAt: utc(event.created_at),
    ...(record !== null && { resource: resource(record) }),
  }
}
