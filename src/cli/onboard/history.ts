import { createReader } from '../../chain/reader.ts'
import type { NetworkName, NetworkSettings } from '../../core/asset.ts'
import { lineOf } from '../../core/errors.ts'
import { stableWalletNetwork } from '../../core/evidence.ts'
import { type Amount, formatAmount } from '../../core/money.ts'
import { parseTime } from '../../core/time.ts'
import type { Section } from '../../provider/infer/find-records.ts'
import type { OwnerFileRow } from '../../provider/owners-file.ts'
import { createClaimReader } from '../../provider/read-claim.ts'
import { type CallEstimate, historyCalls } from '../doctor/cost.ts'
import { priceDecimals, timeForms } from '../options.ts'
import { duration } from '../print.ts'
import { bodyOf } from '../webhooks/profile.ts'
import type { OnboardProfile } from './profile.ts'
import { readList } from './read-list.ts'
import type { Session } from './session.ts'

/** In the currency of the price, rounded up to its hundredth. */
type CallCost = { least: string; most: string }

/** `problem`: no node could give the heights of these times. */
export type NetworkHistory = { network: string; addresses: number } & (
  | ({ from: bigint; to: bigint; payments: number; seconds: number; cost: CallCost | null } & CallEstimate)
  | { problem: string }
)

export type HistoryEstimate = {
  since: Date
  /** Since then. Extrapolated from the newest ones, unless these are all there are. */
  deposits: number
  isExact: boolean
  /** Of the service, to list these. */
  listCalls: number
  networks: readonly NetworkHistory[]
}

/** The beginning of the history to read; undefined if none is read. */
export async function askSince({ options, say, ask }: Session): Promise<Date | undefined> {
  if (options.since !== undefined) return options.since
  for (;;) {
    const text = await ask('From when on is history read? A day or a time; empty for from now on:')
    if (text === '') break
    const since = parseTime(text)
    if (since !== null) return since
    say(`${text} is no time: ${timeForms}.`)
  }
  say('History is not read, except for transactions that the service names. To read it, give --since.')
  return undefined
}

/** The deposits of a longer list are extrapolated from this many. About a hundred calls, with pages of the usual size. */
const recordsMax = 10_000

export type EstimateRequest = {
  list: Section
  profile: OnboardProfile['profile']
  rows: readonly OwnerFileRow[]
  since: Date
}

/** Estimates the calls for reading from then on. Asks the nodes for heights, and the service for its newest records. */
export async function estimateHistory(
  session: Session,
  { list, profile, rows, since }: EstimateRequest,
): Promise<HistoryEstimate> {
  const { settings } = session.service()
  const now = new Date()
  const records = await readList(session, list, recordsMax)
  const places = placesOf(session, { profile, records }, now)
  const isExact = records.length < recordsMax
  const deposits = isExact
    ? places.filter(({ at }) => at >= since).length
    : extrapolate(
        places.map(({ at }) => at),
        since,
        now,
      )
  const paymentsOn = (network: NetworkName) =>
    (deposits * places.flatMap(({ networks }) => networks).filter((one) => one === network).length) /
    Math.max(1, places.length)
  const watched = addressesByNetwork(rows)
  const read = settings.networks.filter(({ name, rpcUrls }) => rpcUrls.length > 0 && watched.has(name))
  return {
    since,
    deposits,
    isExact,
    listCalls: Math.ceil(deposits / profile.list.limit),
    networks: await Promise.all(
      read.map((network) => {
        const addresses = watched.get(network.name)?.size ?? 0
        const payments = Math.round(paymentsOn(network.name))
        const span = { since, addresses, payments, perSecond: settings.historyPerSecond }
        return ofNetwork(network, { ...span, price: session.options.price ?? null })
      }),
    ),
  }
}

export function historyText({ since, deposits, isExact, listCalls, networks }: HistoryEstimate): string {
  const about = isExact ? '' : 'about '
  return [
    `Reading from ${since.toISOString()} on: ${about}${thousands(deposits)} deposits; calls of the list: ${thousands(listCalls)}`,
    ...networks.map((one) => {
      const head = `  ${one.network}: ${thousands(one.addresses)} addresses`
      if ('problem' in one) return `${head}; no estimate: ${one.problem}`
      const heights = `heights ${thousands(one.from)} to ${thousands(one.to)}`
      const cost = one.cost === null ? '' : `, cost ${one.cost.least} to ${one.cost.most}`
      return `${head}, ${heights}: ${thousands(one.least)} to ${thousands(one.most)} calls of nodes, at most ${duration(one.seconds)}${cost}`
    }),
    '  Read in the background, also after a stop. To see how far it is: bin/depositd doctor',
  ].join('\n')
}

const thousands = (number: number | bigint) => number.toLocaleString('en-US')

/** The time of each deposit, and the networks of its payment and of its delivery. */
function placesOf(
  { name, service }: Session,
  { profile, records }: Pick<EstimateRequest, 'profile'> & { records: readonly unknown[] },
  now: Date,
) {
  const read = createClaimReader(profile, service().settings, name)
  return records.flatMap((record) => {
    const reading = read({ source: 'api', body: bodyOf(record), receivedAt: now })
    if (reading.kind !== 'claim') return []
    const { deposit, settlement, occurredAt } = reading.claim
    const delivered = settlement?.network ?? stableWalletNetwork
    return [{ at: occurredAt, networks: [deposit.network, delivered] }]
  })
}

/** Continues the rate of these, which are the newest deposits or the oldest ones. */
export function extrapolate(times: readonly Date[], since: Date, now: Date): number {
  const sorted = times.map((time) => time.getTime()).toSorted((left, right) => left - right)
  const [oldest, newest] = [sorted[0], sorted.at(-1)]
  if (oldest === undefined || newest === undefined) return 0
  // The newest ones reach up to now.
  const isNewest = now.getTime() - newest < newest - oldest
  const spanMs = Math.max(1, (isNewest ? now.getTime() : newest) - oldest)
  const from = isNewest ? since.getTime() : Math.max(since.getTime(), oldest)
  return Math.round((sorted.length * (now.getTime() - from)) / spanMs)
}

function addressesByNetwork(rows: readonly OwnerFileRow[]): Map<string, Set<string>> {
  const watched = new Map<string, Set<string>>()
  const add = (network: string, address: string) =>
    void watched.set(network, (watched.get(network) ?? new Set()).add(address))
  for (const { network, address, forward } of rows) {
    add(network, address)
    if (forward !== null) add(forward.network, forward.recipient)
  }
  return watched
}

const bounds = { timeoutMs: 10_000, triesMax: 2, quotaWaitMs: 2000 }

type SpanRequest = {
  since: Date
  addresses: number
  payments: number
  perSecond: number
  price: Amount | null
}

async function ofNetwork(
  network: NetworkSettings,
  { since, addresses, payments, perSecond, price }: SpanRequest,
): Promise<NetworkHistory> {
  const named = { network: network.name, addresses }
  try {
    const reader = createReader(network, { bounds })
    const { at } = await reader.readBalances({ pairs: [], at: null })
    const from = (await reader.heightAt(since)) ?? 1n
    const calls = historyCalls(network, { from, to: at.height, addresses, payments })
    const quorum = network.reading?.quorum ?? 1
    const cost =
      price === null ? null : { least: costOf(calls.least, price), most: costOf(calls.most, price) }
    return {
      ...named,
      from,
      to: at.height,
      payments,
      ...calls,
      seconds: calls.most / quorum / perSecond,
      cost,
    }
  } catch (error) {
    return { ...named, problem: lineOf(error) }
  }
}

const callsOfPrice = 1_000_000n
const centDecimals = 2

/** @param price of a million calls */
export function costOf(calls: number, price: Amount): string {
  const perCent = callsOfPrice * 10n ** BigInt(priceDecimals - centDecimals)
  return formatAmount((BigInt(calls) * price + perCent - 1n) / perCent, centDecimals)
}
