import type { Address, NetworkName, TxId } from '../asset.ts'
import type { LegSearch, ObservedChainTransfer } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { claimOf } from '../matching/fold.ts'
import type { Policy } from '../policy.ts'
import { approvedDestination, type DepositLeg } from './legs.ts'

export type SoughtLeg = {
  role: ObservedChainTransfer['role']
  network: NetworkName
  address: Address
  tx: TxId | null
  /** The leg should have moved between these times. */
  from: Date
  until: Date
}

export type LegAbsence =
  | { kind: 'proved'; proof: string }
  | { kind: 'not_read'; detail: Readonly<Record<string, string>> }
  | { kind: 'open' }

const open: LegAbsence = { kind: 'open' }

/** A node may lie or lag, so it takes two to prove absence. */
const nodesWanted = 2

/** For a payment, one per statement of the service. */
export function soughtLegs(evidence: DepositEvidence, leg: DepositLeg, policy: Policy): SoughtLeg[] {
  return leg === 'deposit' ? soughtPayments(evidence, policy) : soughtDeliveries(evidence)
}

/** Without a transaction, the service may report the payment as late as the policy allows. */
function soughtPayments({ api, webhook, claims }: DepositEvidence, policy: Policy): SoughtLeg[] {
  const times = [...claims.api, ...claims.webhook].flatMap((one) => [one.occurredAt, one.receivedAt])
  const until = new Date(Math.min(...times.map(Number)))
  const unnamedFrom = new Date(until.getTime() - policy.chainWithinMs - policy.reportWithinMs)
  const legs = [api, webhook].flatMap((claim): SoughtLeg[] => {
    if (claim === null) return []
    const { network, address, tx } = claim.deposit
    return [{ role: 'deposit', network, address, tx, from: tx === null ? unnamedFrom : until, until }]
  })
  // At one address, a claim that names the transaction is more precise.
  const byAddress = Map.groupBy(legs, ({ network, address }) => `${network}/${address}`)
  return [...byAddress.values()].flatMap((alike) => {
    const named = alike.filter(({ tx }) => tx !== null)
    return [...new Map((named.length > 0 ? named : alike).map((one) => [one.tx, one])).values()]
  })
}

function soughtDeliveries(evidence: DepositEvidence): SoughtLeg[] {
  const { deposit } = evidence
  const stated = claimOf(evidence)?.settlement
  const place = approvedDestination(evidence) ?? stated
  if (!deposit?.finalAt || !place) return []
  const { network, address } = place
  const tx = stated?.tx ?? null
  return [{ role: 'recipient', network, address, tx, from: deposit.blockAt, until: deposit.finalAt }]
}

/** The service stated nothing of it since the start of its history, and no chain shows it. */
export function isBeforeHistory(
  { claims, deposit, settlements }: DepositEvidence,
  { historySinceMs }: Policy,
): boolean {
  if (historySinceMs === null || deposit !== null || settlements.length > 0) return false
  const all = [...claims.api, ...claims.webhook]
  return all.length > 0 && all.every(({ occurredAt }) => occurredAt.getTime() < historySinceMs)
}

export function searchesOf({ searches }: DepositEvidence, leg: SoughtLeg): LegSearch[] {
  return searches.filter(
    ({ role, network, to, tx }) =>
      role === leg.role && network === leg.network && to === leg.address && tx === leg.tx,
  )
}

/** @param due an earlier search proves nothing: the leg may still have arrived in time */
export function judgeAbsence(
  evidence: DepositEvidence,
  legs: readonly SoughtLeg[],
  { due, policy }: { due: Date; policy: Policy },
): LegAbsence {
  const found = legs.map((leg) => absenceOf(leg, searchesOf(evidence, leg), { due, policy }))
  const unread = found.find((one) => one.kind === 'not_read')
  if (unread !== undefined) return unread
  const proofs = found.flatMap((one) => (one.kind === 'proved' ? [one.proof] : []))
  if (proofs.length === 0 || proofs.length < legs.length) return open
  return { kind: 'proved', proof: proofs.join('; ') }
}

function absenceOf(
  leg: SoughtLeg,
  searches: readonly LegSearch[],
  { due, policy }: { due: Date; policy: Policy },
): LegAbsence {
  const last = searches.at(-1)
  if (last === undefined) return open
  const [proof] = searches
    .filter(({ receivedAt }) => receivedAt >= due)
    .flatMap((search) => nodeProof(search) ?? rangeProof(search, leg, policy) ?? [])
  if (proof !== undefined) return { kind: 'proved', proof }
  return reachesBack(last, leg) ? open : { kind: 'not_read', detail: unreadDetail(leg, last) }
}

function nodeProof({ network, nodes, receivedAt }: LegSearch): string | null {
  if (nodes.length < nodesWanted) return null
  return `${nodes.length} nodes of ${network} do not know the transaction (${nodes.join(', ')}), asked at ${receivedAt.toISOString()}`
}

function rangeProof(search: LegSearch, leg: SoughtLeg, { clockSkewMs }: Policy): string | null {
  const { network, read } = search
  // Clocks differ, and a quiet chain makes no block for a while.
  const isReached = read !== null && read.to.blockAt.getTime() >= leg.until.getTime() - clockSkewMs
  if (!isReached || !reachesBack(search, leg)) return null
  const { from, to } = read
  return `final blocks ${from.height} to ${to.height} of ${network} were read for the address (${from.blockAt.toISOString()} to ${to.blockAt.toISOString()})`
}

/** The address was read since before the leg can have moved, or since its creation: it cannot have been paid before. */
function reachesBack({ read, bookedAt }: LegSearch, { from, until }: SoughtLeg): boolean {
  if (read === null) return false
  const isSinceMade = bookedAt !== null && bookedAt <= until && read.from.blockAt <= bookedAt
  return isSinceMade || read.from.blockAt <= from
}

export function unreadDetail(leg: SoughtLeg, search: LegSearch | undefined): Record<string, string> {
  const { network, address, tx } = leg
  const found = search?.found ?? null
  const steps = search === undefined ? [] : stepsOf(leg, search)
  return {
    network,
    address,
    ...(tx !== null && { tx }),
    ...(found !== null && { found: `block ${found.height} holds the transaction` }),
    reason: reasonOf(leg, search),
    ...(steps.length > 0 && { next: steps.join('; then ') }),
  }
}

function stepsOf({ role, network, address }: SoughtLeg, search: LegSearch): string[] {
  const { isUnread, bookedAt, found, claimed } = search
  if (isUnread) return []
  const owners = role === 'deposit' ? 'channels or wallets' : 'channels'
  const from = (found ?? claimed)?.height
  return [
    ...(bookedAt === null ? [`bin/depositd ${owners} import FILE, with ${address} on ${network}`] : []),
    ...(from === undefined ? [] : [`bin/depositd backfill --network ${network} --from ${from}`]),
  ]
}

function reasonOf(leg: SoughtLeg, search: LegSearch | undefined): string {
  const { network, from } = leg
  if (search === undefined)
    return `${network} could not be searched for 24 hours: check its nodes with \`bin/depositd doctor\``
  if (search.isUnread) return `${network} has no RPC URL: set one to read it`
  if (search.bookedAt === null) return 'the address is not in the address book'
  if (search.claimed === null) return `the nodes of ${network} have no blocks from ${from.toISOString()}`
  const { read } = search
  if (read === null) return `${network} has not been read for this address yet`
  return reachesBack(search, leg)
    ? `${network} is read only up to final block ${read.to.height} (${read.to.blockAt.toISOString()})`
    : `${network} is read for this address only from block ${read.from.height} (${read.from.blockAt.toISOString()})`
}
