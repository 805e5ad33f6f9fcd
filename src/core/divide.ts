import type { Address, NetworkName } from './asset.ts'
import type { Claim, Failure, Observation, Owner, ServiceId } from './evidence.ts'
import { type ChainLeg, foldClaims, foldFailures, foldSightings, isFurther, type Story } from './fold.ts'
import type { Link, LinkRule } from './link.ts'
import { type WriteOff, writeOffOf } from './write-off.ts'

/** What a deposit address stands for in the address book. */
export type Approval = {
  network: NetworkName
  address: Address
  owner: Owner
  /** Where the owner's deposits are to be delivered; null for a StableWallet. */
  forward: { network: NetworkName; recipient: Address } | null
}

/** All that is known of one deposit, folded so that order and repetition of the evidence do not matter. */
export type Dossier = Omit<Story, 'serviceId'> & {
  /** Null while the service has not told of it. */
  serviceId: ServiceId | null
  deposit: ChainLeg | null
  settlements: readonly ChainLeg[]
  /** How each of these transfers came to it: the payment first, then the deliveries. */
  links: readonly Link[]
  /** Of the transactions that the service names, those that failed. */
  failures: readonly Failure[]
  approval: Approval | null
  /** Where the service names an owner of ours with an address that is not its own. */
  stranger: StrangeAddress | null
  /** An owner that the service names and the address book does not have. */
  unknownOwner: Owner | null
  writeOff: WriteOff | null
}

/** What the service states, and what the address book has for that owner on that network. */
export type StrangeAddress = { owner: Owner; network: NetworkName; stated: Address; kept: Address }

/** A group's deposits, and transfers to recipients that no deposit explains. */
export type Division = { dossiers: readonly Dossier[]; strays: readonly ChainLeg[] }

/** Divides a group of linked evidence into its deposits. The same evidence in any order gives the same division. */
export function divide(observations: readonly Observation[], approvals: readonly Approval[]): Division {
  const legs = foldSightings(observations.filter((one) => one.kind === 'sighting'))
  const stories = foldClaims(observations.filter((one) => one.kind === 'claim'))
  const failures = foldFailures(observations.filter((one) => one.kind === 'failure'))
  const paid = legs.filter((leg) => leg.role === 'deposit' && !isReplaced(leg, legs))
  const delivered = legs.filter((leg) => leg.role === 'recipient')
  const payments = assign(stories, paid, fitOfPayment)
  const deliveries = assign(stories, delivered, fitOfDelivery)
  const approvalOf = (story: Story | null, leg: ChainLeg | null) =>
    approvals.find((one) => isAt(one, leg === null ? claimedDeposit(story) : { ...leg, address: leg.to })) ??
    null

  const told = stories.map((story): Dossier => {
    const deposit = payments.get(story) ?? null
    const settlement = deliveries.get(story)
    return {
      ...story,
      deposit,
      settlements: settlement ? [settlement] : [],
      links: [
        ...(deposit ? [linkOf(deposit, ruleOfFit[fitOfPayment(story, deposit)])] : []),
        ...(settlement ? [linkOf(settlement, ruleOfFit[fitOfDelivery(story, settlement)])] : []),
      ],
      failures: failures.filter((failure) => isNamed(failure, story)),
      approval: approvalOf(story, deposit),
      stranger: strangerOf(story, approvals),
      unknownOwner: unknownOwnerOf(story, approvals),
      writeOff: writeOffOf(observations, deposit),
    }
  })
  const untold = without(paid, payments)
    .filter((leg) => !isBack(leg, told))
    .map(
      (leg): Dossier => ({
        ...nothingTold,
        deposit: leg,
        settlements: [],
        links: [linkOf(leg, 'unclaimed')],
        approval: approvalOf(null, leg),
        writeOff: writeOffOf(observations, leg),
      }),
    )
  return { dossiers: [...told, ...untold], strays: without(delivered, deliveries) }
}

/** The service's word on a deposit: its API's, unless only a webhook tells of a later step. */
export function claimOf({ api, webhook }: Pick<Story, 'webhook' | 'api'>): Claim | null {
  if (api === null || webhook === null) return api ?? webhook
  return isFurther(webhook, api) ? webhook : api
}

const nothingTold = {
  serviceId: null,
  webhook: null,
  api: null,
  webhookAt: null,
  apiAt: null,
  statuses: { webhook: new Map(), api: new Map() },
  words: { webhook: [], api: [] },
  failures: [],
  stranger: null,
  unknownOwner: null,
}

const fitsInOrder = ['exact', 'near', 'loose'] as const
type Fit = (typeof fitsInOrder)[number] | 'none'

const ruleOfFit = {
  exact: 'transaction and amount',
  near: 'transaction and address',
  loose: 'transaction',
  none: 'unclaimed',
} as const satisfies Record<Fit, LinkRule>

function linkOf({ ref, role }: ChainLeg, rule: LinkRule): Link {
  return { transfer: ref, role, rule, ruling: null }
}

/**
 * Gives each story at most one transfer, and each transfer to at most one story. Exact fits are served first, over
 * all stories, so that a doubtful one cannot take another's transfer; what is left goes in order of index.
 */
function assign(
  stories: readonly Story[],
  legs: readonly ChainLeg[],
  fit: (story: Story, leg: ChainLeg) => Fit,
) {
  const free = new Set(legs.toSorted(liveFirst))
  const taken = new Map<Story, ChainLeg>()
  for (const wanted of fitsInOrder) {
    for (const story of stories.filter((one) => !taken.has(one))) {
      const leg = [...free].find((candidate) => fit(story, candidate) === wanted)
      if (leg === undefined) continue
      free.delete(leg)
      taken.set(story, leg)
    }
  }
  return taken
}

function fitOfPayment(story: Story, leg: ChainLeg): Fit {
  return bestFit(story, ({ deposit }) => {
    if (deposit.tx !== leg.tx || deposit.network !== leg.network || deposit.address !== leg.to) return 'none'
    const sameIndex = deposit.index === null || deposit.index === leg.index
    return sameIndex && deposit.asset === leg.asset && deposit.amount === leg.amount ? 'exact' : 'near'
  })
}

function fitOfDelivery(story: Story, leg: ChainLeg): Fit {
  return bestFit(story, ({ settlement }) => {
    if (settlement?.tx !== leg.tx || settlement.network !== leg.network) return 'none'
    if (settlement.address !== leg.to) return 'loose'
    return settlement.asset === leg.asset && settlement.amount === leg.amount ? 'exact' : 'near'
  })
}

/** Either of the service's voices may be the one that names the transaction. */
function bestFit({ api, webhook }: Story, fit: (claim: Claim) => Fit): Fit {
  const fits = [api, webhook].map((claim) => (claim === null ? 'none' : fit(claim)))
  return fitsInOrder.find((one) => fits.includes(one)) ?? 'none'
}

function isNamed({ role, network, tx }: Failure, { api, webhook }: Story): boolean {
  const named = [api, webhook].map((claim) => (role === 'deposit' ? claim?.deposit : claim?.settlement))
  return named.some((leg) => leg?.network === network && leg.tx === tx)
}

function liveFirst(left: ChainLeg, right: ChainLeg): number {
  return Number(left.state === 'orphaned') - Number(right.state === 'orphaned')
}

/**
 * A transaction that is included again is carried out anew, mostly under other indexes: what it paid in the block that
 * is gone is no payment beside what it pays now. What was final stays told of as gone until it is final again.
 */
function isReplaced(leg: ChainLeg, legs: readonly ChainLeg[]): boolean {
  if (leg.state !== 'orphaned') return false
  const now = legs.filter(({ role, network, tx, to }) => {
    return role === leg.role && network === leg.network && tx === leg.tx && to === leg.to
  })
  return now.some(({ state }) => state === 'final' || (state === 'seen' && leg.finalAt === null))
}

/** An early sighting that was withdrawn, and came back under another index, is not a second payment. */
function isBack(leg: ChainLeg, told: readonly Dossier[]): boolean {
  if (leg.state !== 'orphaned' || leg.finalAt !== null) return false
  return told.some(({ deposit }) => deposit !== null && deposit.tx === leg.tx && deposit.to === leg.to)
}

function without(legs: readonly ChainLeg[], assigned: ReadonlyMap<Story, ChainLeg>): ChainLeg[] {
  const used = new Set(assigned.values())
  return legs.filter((leg) => !used.has(leg))
}

function isAt(approval: Approval, place: { network: NetworkName; address: Address } | null): boolean {
  return place !== null && approval.network === place.network && approval.address === place.address
}

function strangerOf({ api, webhook }: Story, approvals: readonly Approval[]): StrangeAddress | null {
  const strangers = [api, webhook].map((claim) => {
    if (claim === null || claim.owner === null) return null
    const { owner, deposit } = claim
    const kept = approvals.filter((one) => isOf(one, owner) && one.network === deposit.network)
    if (kept[0] === undefined || kept.some(({ address }) => address === deposit.address)) return null
    return { owner, network: deposit.network, stated: deposit.address, kept: kept[0].address }
  })
  return strangers.find((one) => one !== null) ?? null
}

function unknownOwnerOf({ api, webhook }: Story, approvals: readonly Approval[]): Owner | null {
  const owners = [api, webhook].flatMap((claim) => claim?.owner ?? [])
  return owners.find((owner) => !approvals.some((one) => isOf(one, owner))) ?? null
}

function isOf({ owner }: Approval, { kind, id }: Owner): boolean {
  return owner.kind === kind && owner.id === id
}

function claimedDeposit(story: Story | null) {
  return story === null ? null : (claimOf(story)?.deposit ?? null)
}
