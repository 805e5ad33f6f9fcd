import type { Address, AssetKey, NetworkName, TxId } from '../asset.ts'
import {
  type ObservedChainTransfer,
  type Owner,
  type ServiceId,
  serviceOf,
  type TransferRef,
  transferRef,
} from '../evidence.ts'
import { isInBand } from '../judging/fee.ts'
import { policyOfRoute } from '../judging/route.ts'
import type { Amount } from '../money.ts'
import { isTolerated, type Policy, type RoutePolicy } from '../policy.ts'
import { compareText } from './fold.ts'

/** Final, and named by no deposit in time. */
export type UnnamedTransfer = Pick<
  ObservedChainTransfer,
  'role' | 'network' | 'tx' | 'index' | 'asset' | 'amount' | 'from' | 'to'
> & { at: Date }

/** The known facts of the leg that was not found. */
export type OpenDeposit = {
  serviceId: ServiceId
  owner: Owner | null
  network: NetworkName
  address: Address
  /** As the service states it or is to deliver it. */
  asset: AssetKey | null
  amount: Amount | null
  tx: TxId | null
  /**
   * For a payment, when the service says it happened; for a delivery, when the payment was made and found to be final.
   */
  since: Date
  finalAt: Date | null
  paid: { network: NetworkName; asset: AssetKey; amount: Amount }
}

export type CandidatePair = { transfer: UnnamedTransfer; deposit: OpenDeposit }

/** The weights of the fulfilled rules add up to the score. */
export type RuleResult = { rule: string; weight: number } & Comparison

type Comparison = { fulfilled: boolean; compares: string }

export type Proposal = CandidatePair & {
  score: number
  reasons: readonly RuleResult[]
  policy: string
  /** The policy accepts it, so no person has to be asked. */
  isAgreed: boolean
}

export type ProposalAmbiguity = {
  transfer: UnnamedTransfer
  deposits: readonly ServiceId[]
  transfers: readonly TransferRef[]
}

export type ProposalRules = { policy: Policy; routes: readonly RoutePolicy[]; senders: ReadonlySet<string> }

/**
 * Proposes pairs that fit nothing else on either side; other fitting pairs are ambiguous. Their order does not matter,
 * but they must include all deposits of a transfer and all transfers of those deposits.
 */
export function propose(pairs: readonly CandidatePair[], rules: ProposalRules) {
  const fitting = pairs.map((pair) => judge(pair, rules)).filter((one) => one !== null)
  const ofTransfers = Map.groupBy(fitting, ({ transfer }) => placeOf(transfer))
  const ofDeposits = Map.groupBy(fitting, ({ transfer, deposit }) => `${transfer.role} ${deposit.serviceId}`)
  const proposals: Proposal[] = []
  const ambiguities: ProposalAmbiguity[] = []
  for (const [, all] of [...ofTransfers].toSorted(([left], [right]) => compareText(left, right))) {
    const rivals = all.flatMap(
      ({ transfer, deposit }) => ofDeposits.get(`${transfer.role} ${deposit.serviceId}`) ?? [],
    )
    const [only] = all
    if (only === undefined) continue
    if (rivals.length === 1) proposals.push(only)
    else
      ambiguities.push({
        transfer: only.transfer,
        deposits: inOrder(all.map(({ deposit }) => deposit.serviceId)),
        transfers: inOrder(rivals.map(({ transfer }) => transferRef(transfer))),
      })
  }
  return { proposals, ambiguities }
}

function judge(
  { transfer, deposit }: CandidatePair,
  { senders, ...policies }: ProposalRules,
): Proposal | null {
  const policy = policyOfRoute(
    {
      owner: deposit.owner,
      service: serviceOf(deposit.serviceId),
      networkIn: deposit.paid.network,
      networkOut: transfer.role === 'recipient' ? transfer.network : undefined,
      assetIn: deposit.paid.asset,
      assetOut: transfer.role === 'recipient' ? transfer.asset : undefined,
    },
    policies,
  )
  const rules: readonly ScoringRule[] = transfer.role === 'deposit' ? paymentRules : deliveryRules
  const judged = rules.map((rule) => ({ rule, ...rule.hold({ transfer, deposit }, { policy, senders }) }))
  if (judged.some(({ rule, fulfilled }) => rule.isNeeded && !fulfilled)) return null
  const fulfilled = judged.filter((one) => one.fulfilled)
  return {
    transfer,
    deposit,
    score: fulfilled.reduce((sum, { rule }) => sum + rule.weight, 0),
    reasons: judged.map(({ rule: { name, weight }, ...held }) => ({ rule: name, weight, ...held })),
    policy: policy.line,
    isAgreed: policy.acceptsUnnamed && fulfilled.length === judged.length,
  }
}

function placeOf(transfer: UnnamedTransfer): string {
  return `${transfer.role} ${transferRef(transfer)}`
}

function inOrder<Text extends string>(texts: readonly Text[]): Text[] {
  return [...new Set(texts)].toSorted(compareText)
}

type ScoringRule = {
  name: string
  /** In hundredths of the score; a list adds up to 100. */
  weight: number
  isNeeded: boolean
  hold: (pair: CandidatePair, by: { policy: Policy; senders: ReadonlySet<string> }) => Comparison
}

const asset: Omit<ScoringRule, 'weight'> = {
  name: 'asset',
  isNeeded: true,
  hold: ({ transfer, deposit }) => same(transfer.asset, deposit.asset ?? 'none stated'),
}

const transaction: Omit<ScoringRule, 'weight'> = {
  name: 'transaction',
  isNeeded: false,
  hold: ({ transfer, deposit: { tx } }) => ({
    fulfilled: tx === null || tx === transfer.tx,
    compares: tx === null ? 'the service names none' : `the service names ${tx}`,
  }),
}

const address: Omit<ScoringRule, 'weight' | 'name'> = {
  isNeeded: true,
  hold: ({ transfer, deposit }) =>
    same(`${transfer.network}/${transfer.to}`, `${deposit.network}/${deposit.address}`),
}

/** For a payment that the service states without a transaction, or with another one. */
export const paymentRules: readonly ScoringRule[] = [
  { name: 'address', weight: 25, ...address },
  { weight: 20, ...asset },
  {
    name: 'amount',
    weight: 30,
    isNeeded: true,
    hold: ({ transfer, deposit }) =>
      same(transfer.amount.toString(), deposit.amount?.toString() ?? 'none stated'),
  },
  {
    name: 'time',
    weight: 15,
    isNeeded: false,
    hold: ({ transfer, deposit }, { policy: { chainWithinMs, reportWithinMs, clockSkewMs } }) =>
      within(transfer.at, {
        from: plus(deposit.since, -(chainWithinMs + reportWithinMs)),
        to: plus(deposit.since, clockSkewMs),
      }),
  },
  { weight: 10, ...transaction },
]

/** For a deposit that was paid and not delivered. */
export const deliveryRules: readonly ScoringRule[] = [
  { name: 'recipient', weight: 20, ...address },
  { weight: 15, ...asset },
  {
    name: 'amount',
    weight: 25,
    isNeeded: true,
    hold: (pair, { policy }) => holdAmount(pair, policy),
  },
  {
    name: 'order',
    weight: 5,
    isNeeded: true,
    hold: ({ transfer, deposit }, { policy: { clockSkewMs } }) => ({
      fulfilled: transfer.at >= plus(deposit.since, -clockSkewMs),
      compares: `paid ${deposit.since.toISOString()}, delivered ${transfer.at.toISOString()}`,
    }),
  },
  {
    name: 'sender',
    weight: 10,
    isNeeded: false,
    hold: ({ transfer: { network, from } }, { senders }) => ({
      fulfilled: from !== null && senders.has(`${network}/${from}`),
      compares: from ?? 'the chain names none',
    }),
  },
  {
    name: 'time',
    weight: 15,
    isNeeded: false,
    hold: ({ transfer, deposit }, { policy: { settlementWithinMs, clockSkewMs } }) =>
      within(transfer.at, {
        from: plus(deposit.since, -clockSkewMs),
        to: plus(deposit.finalAt ?? deposit.since, settlementWithinMs),
      }),
  },
  { weight: 10, ...transaction },
]

/** If no amount is stated, the fee that follows from the payment must be within the policy's band. */
function holdAmount({ transfer, deposit }: CandidatePair, policy: Policy): Comparison {
  const { amount: stated, paid } = deposit
  const { fee } = policy
  if (stated !== null) {
    const fulfilled = isTolerated(transfer.amount, stated, policy)
    return { fulfilled, compares: `${transfer.amount}, ${stated} stated` }
  }
  if (fee.kind === 'stated' || fee.kind === 'fixed')
    return { fulfilled: false, compares: `${transfer.amount}, none stated` }
  const { units } = fee
  const scaled = paid.amount * units.delivered - transfer.amount * units.paid
  return {
    fulfilled: isInBand({ scaled, paid: paid.amount * units.delivered }, fee),
    compares: `${transfer.amount} of ${paid.amount} paid, by the fee`,
  }
}

/** For rules that are needed: what differs is not proposed. */
function same(one: string, other: string): Comparison {
  return { fulfilled: one === other, compares: one }
}

function within(time: Date, { from, to }: { from: Date; to: Date }): Comparison {
  const compares = `${time.toISOString()}, ${from.toISOString()} to ${to.toISOString()}`
  return { fulfilled: time >= from && time <= to, compares }
}

function plus(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms)
}
