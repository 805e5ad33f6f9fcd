import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** A deposit as the service of this project reports it. */
export type OurDeposit = {
  id: string
  owner: { type: 'channel' | 'stable_wallet'; id: string }
  status: OurStatus
  reason: string | null
  source: {
    network: string
    address: string
    asset: string
    /** Null for the native coin. */
    contract: string | null
    decimals: number
    /** Base units. */
    amount: string
    /** Null if a fault omits it. */
    transaction: string | null
    index: string
    sender: string | null
    block: string
    time: string
  }
  destination: {
    /** Null for a StableWallet. */
    network: string | null
    address: string
    asset: string
    contract: string | null
    decimals: number
    amount: string | null
    transaction: string | null
    time: string | null
    /** Ours does not list them: the front adds them. */
    payouts?: readonly OurPayout[]
  }
  fee: { asset: string; amount: string } | null
  rate: string | null
  refund: { address: string; amount: string; transaction: string | null; time: string | null } | null
  created_at: string
  updated_at: string
}

export type OurPayout = { transaction: string | null; amount: string; time: string | null }

/** One by default; none before it is sent. */
export function payoutsOf({ network, amount, transaction, time, payouts }: OurDeposit['destination']) {
  if (payouts !== undefined) return payouts
  const isSent = amount !== null && (network === null || transaction !== null)
  return isSent ? [{ transaction, amount, time }] : []
}

export type OurStatus =
  | 'detected'
  | 'confirmed'
  | 'converting'
  | 'forwarding'
  | 'settled'
  | 'credited'
  | 'held'
  | 'refunding'
  | 'refunded'
  | 'failed'

type OurAddress = { network: string; address: string }

export type OurChannel = {
  id: string
  addresses: readonly OurAddress[]
  forward_network: string
  forward_asset_symbol: string
  forward_recipient: string
}

export type OurWallet = { stable_wallet: { id: string; deposit_addresses: readonly OurAddress[] } }

/** `type` is missing if a fault damaged the body. */
export type OurEvent = { id: string; type?: string; created_at: string; data: OurDeposit | object }

/** Null for a test event. */
export function depositOf({ data }: OurEvent): OurDeposit | null {
  return 'source' in data ? data : null
}

type OurLists = { deposits: OurDeposit; channels: OurChannel; wallets: OurWallet }

export type OurPage<Item> = { data: readonly Item[]; next_cursor: string | null }

/** @throws UpstreamRefusal from every call */
export type OurService = {
  /** Newest first. */
  page: <List extends keyof OurLists>(
    list: List,
    query: Readonly<Record<string, string>>,
  ) => Promise<OurPage<OurLists[List]>>
  all: <List extends keyof OurLists>(list: List) => Promise<OurLists[List][]>
  deposit: (id: string) => Promise<OurDeposit>
}

/** `url` as the client wrote it, with the host that it called. */
export type ApiRequest = { method: string; url: URL; headers: IncomingHttpHeaders }

export type ApiAnswer = { body: unknown; headers?: Readonly<Record<string, string>> }

/** `id` is the same for each attempt; `url` is the address that the webhook goes to. */
export type WebhookMessage = { id: string; url: string; body: string; at: Date }

/** An API and its webhooks in words and formats of their own, which say all that our service says. */
export type Shape = {
  name: string
  title: string
  /** The section `auth` of the daemon's settings. */
  auth: Record<string, unknown>
  isAuthorized: (request: ApiRequest, apiKey: string) => boolean
  /** Null for an unknown path. */
  answer: (request: ApiRequest, service: OurService) => Promise<ApiAnswer | null>
  /** A document in the format of OpenAPI at `path`; the calls with the parameters of their queries. */
  specification: { path: string; calls: Readonly<Record<string, readonly string[]>> } | null
  /** How many events one webhook may have, and how long it waits for more. */
  batch: { max: number; withinMs: number }
  payload: (events: readonly OurEvent[]) => unknown
  sign: (message: WebhookMessage, webhookKey: string) => Record<string, string>
  /** What a receiver needs to verify signatures. */
  webhookSecret: (webhookKey: string) => string
}

export const noBatch = { max: 1, withinMs: 0 }

/** The name of the setting with the API key; the section `auth` names it. */
export function keySetting(name: string): string {
  return `SERVICE_API_${name.toUpperCase()}_KEY`
}

export function isSame(sent: string | string[] | undefined, expected: string): boolean {
  const [one, other] = [String(sent), expected].map((text) => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}

/** From 1 to `max`. */
export function sizeOf(text: string | null, { usual, max }: { usual: number; max: number }): number {
  return Math.min(Math.max(Math.trunc(Number(text ?? usual)) || usual, 1), max)
}

/** All digits, no more zeros than needed. */
export function inUnits(base: string, decimals: number): string {
  const digits = base.padStart(decimals + 1, '0')
  const [whole, fraction] = [
    digits.slice(0, digits.length - decimals),
    digits.slice(digits.length - decimals),
  ]
  return `${whole}.${fraction}`.replace(/\.?0*$/, '')
}

/** A JSON number with these digits, whatever their number. */
export function exactNumber(digits: string): unknown {
  return (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(digits)
}

/** The same for the same text: stands for ids and counts of the other service's own. */
export function numberFrom(text: string, max: number): number {
  return (createHash('sha256').update(text).digest().readUInt32BE(0) % max) + 1
}

const euros: Readonly<Record<string, number>> = { ETH: 2760, SOL: 138 }

/** A value in euros, rounded. */
export function fiatValue(base: string, { asset, decimals }: { asset: string; decimals: number }): string {
  return (Number(inUnits(base, decimals)) * (euros[asset] ?? 0.92)).toFixed(2)
}

/** A name as customers have one. */
export function customerName(owner: string): string {
  return `${owner.charAt(0).toUpperCase()}${owner.slice(1).replaceAll(/[-_.:@]/g, ' ')} Trading Ltd`
}
