import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import {
  customerName,
  depositOf,
  fiatValue,
  inUnits,
  isSame,
  keySetting,
  noBatch,
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

const name = 'skua'
const user = 'depositd'

/** A list without a wrapper, links in a header, decimals as text, seconds; what is unknown is left out. */
export const skua: Shape = {
  name,
  title: 'links in a header, decimals as text, seconds, basic authentication; ed25519 over time and body',
  auth: { scheme: 'basic', user, secret: keySetting(name) },
  isAuthorized: ({ headers }, key) =>
    isSame(headers.authorization, `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`),
  async answer({ url }, service) {
    const query = pageQuery(url.searchParams)
    if (url.pathname === '/transfers/incoming')
      return linked(url, await service.page('deposits', query), transfer)
    if (url.pathname === '/routes') return linked(url, await service.page('channels', query), route)
    if (url.pathname === '/vaults') return linked(url, await service.page('wallets', query), vault)
    return null
  },
  specification: null,
  batch: noBatch,
  payload: ([event]) => (event === undefined ? {} : notice(event)),
  sign({ id, body, at }, key) {
    const time = Math.floor(at.getTime() / 1000).toString()
    const proof = sign(null, Buffer.from(time + body), privateKey(key)).toString('hex')
    return { 'x-skua-timestamp': time, 'x-skua-ed25519': proof, 'x-request-id': uuid(id) }
  },
  webhookSecret: (key) => createPublicKey(privateKey(key)).export({ type: 'spki', format: 'pem' }).toString(),
}

/** What PKCS #8 puts before the 32 bytes of an ed25519 key. */
const keyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

function privateKey(text: string): KeyObject {
  const bytes = createHash('sha256').update(text).digest()
  return createPrivateKey({ key: Buffer.concat([keyPrefix, bytes]), format: 'der', type: 'pkcs8' })
}

function pageQuery(query: URLSearchParams): Record<string, string> {
  const after = query.get('after')
  const limit = `${sizeOf(query.get('per_page'), { usual: 30, max: 60 })}`
  return { limit, ...(after !== null && { cursor: after }) }
}

function linked<Item>(url: URL, page: OurPage<Item>, show: (item: Item) => object) {
  const body = page.data.map(show)
  if (page.next_cursor === null) return { body }
  const next = new URL(url)
  next.searchParams.set('after', page.next_cursor)
  const first = new URL(url.pathname, url)
  return { body, headers: { link: `<${first.href}>; rel="first", <${next.href}>; rel="next"` } }
}

/** In the order in which they are first told. */
const sequence = new Map<string, number>()
const sequenceStart = 48_210

function sequenceOf(id: string): number {
  const number = sequence.get(id) ?? sequenceStart + sequence.size
  sequence.set(id, number)
  return number
}

function uuid(text: string): string {
  const hex = createHash('sha256').update(`skua ${text}`).digest('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return parts.join('-')
}

const rails: Readonly<Record<string, string>> = {
  mainnet: 'ETHEREUM_L1',
  base: 'BASE_L2',
  arbitrum: 'ARBITRUM_L2',
  solana: 'SOLANA_L1',
}

const phases: Readonly<Record<OurStatus, string>> = {
  detected: 'SPOTTED',
  confirmed: 'LOCKED_IN',
  converting: 'SWAPPING',
  forwarding: 'ON_ITS_WAY',
  settled: 'ARRIVED',
  credited: 'PARKED',
  held: 'ON_HOLD',
  refunding: 'GOING_BACK',
  refunded: 'RETURNED',
  failed: 'FAILED',
}

function transfer({ source, destination, ...record }: OurDeposit): object {
  return {
    seq: sequenceOf(record.id),
    uuid: uuid(record.id),
    phase: phases[record.status],
    ...(record.reason !== null && { phase_note: record.reason }),
    holder: {
      class: record.owner.type === 'channel' ? 'ROUTE' : 'VAULT',
      handle: record.owner.id,
      legal_name: customerName(record.owner.id),
    },
    received: received(source, record.id),
    passed_on: passedOn(destination),
    ...(record.fee !== null && {
      commission: { qty: inUnits(record.fee.amount, destination.decimals), coin: record.fee.asset },
    }),
    ...(record.rate !== null && { swap_price: record.rate }),
    ...(record.refund !== null && { returned: returned(record.refund, source.decimals) }),
    opened: seconds(record.created_at),
    touched: seconds(record.updated_at),
  }
}

function received(source: OurDeposit['source'], id: string): object {
  return {
    rail: rails[source.network],
    to: source.address,
    coin: source.asset,
    ...(source.contract !== null && { coin_contract: source.contract }),
    qty: inUnits(source.amount, source.decimals),
    eur: fiatValue(source.amount, source),
    ...(source.transaction !== null && { txid: source.transaction }),
    pos: source.index,
    ...(source.sender !== null && { from: source.sender }),
    height: Number(source.block),
    depth: numberFrom(id, 60),
    mined: seconds(source.time),
  }
}

function passedOn(destination: OurDeposit['destination']): object {
  return {
    ...(destination.network !== null && { rail: rails[destination.network] }),
    to: destination.address,
    coin: destination.asset,
    ...(destination.contract !== null && { coin_contract: destination.contract }),
    ...(destination.amount !== null && { qty: inUnits(destination.amount, destination.decimals) }),
    ...(destination.transaction !== null && { txid: destination.transaction }),
    ...(destination.time !== null && { mined: seconds(destination.time) }),
  }
}

function returned(refund: NonNullable<OurDeposit['refund']>, decimals: number): object {
  return {
    to: refund.address,
    qty: inUnits(refund.amount, decimals),
    ...(refund.transaction !== null && { txid: refund.transaction }),
    ...(refund.time !== null && { mined: seconds(refund.time) }),
  }
}

function seconds(time: string): number {
  return Math.floor(Date.parse(time) / 1000)
}

function route({ id, addresses, ...rule }: OurChannel): object {
  return {
    handle: id,
    legal_name: customerName(id),
    inboxes: addresses.map(inbox),
    passes_on: {
      rail: rails[rule.forward_network],
      coin: rule.forward_asset_symbol,
      to: rule.forward_recipient,
    },
  }
}

function vault({ stable_wallet: { id, deposit_addresses: addresses } }: OurWallet): object {
  return { handle: id, legal_name: customerName(id), inboxes: addresses.map(inbox) }
}

function inbox({ network, address }: { network: string; address: string }): object {
  return { rail: rails[network], to: address }
}

function notice(event: OurEvent): object {
  const record = depositOf(event)
  return {
    notice: uuid(event.id),
    topic: record === null ? 'HELLO' : 'TRANSFER_MOVED',
    raised: seconds(event.created_at),
    ...(record !== null && { transfer: transfer(record) }),
  }
}
