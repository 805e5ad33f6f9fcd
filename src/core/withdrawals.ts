import type { BookingTarget } from './booking-targets.ts'
import { accounts } from './chart.ts'
import { type Owner, serviceOf, stableWalletNetwork } from './evidence.ts'
import type { NamedTransaction } from './judging/named-transactions.ts'
import { policyOfRoute } from './judging/route.ts'
import { type ChainLeg, compareText } from './matching/fold.ts'
import { lossOf, type Mismatch } from './mismatch.ts'
import { type ContraRule, type OwedTerms, owedTermsFor } from './owed.ts'
import type { DepositRoute, Policy, RoutePolicy } from './policy.ts'
import type { WithdrawalClaim } from './withdrawal-claim.ts'

/**
 * `paid`: its transfer is final on the chain, as stated. `unproved`: the service's statement and the chain contradict each
 * other, or the transfer is overdue.
 */
export type WithdrawalState = 'requested' | 'sent' | 'paid' | 'failed' | 'unproved'

export type DecidedWithdrawal = {
  claim: WithdrawalClaim
  /** The transfer to the recipient. */
  leg: ChainLeg | null
  state: WithdrawalState
  mismatch: Mismatch | null
  recheckAt: Date | null
  target: BookingTarget | null
  unseen: readonly NamedTransaction[]
}

type WithdrawalRules = {
  policy: Policy
  routes: readonly RoutePolicy[]
  contras?: readonly ContraRule[]
}

/**
 * Transfers are given out in the order of wallets and ids, each once. Withdrawals from before the history that is read
 * are left out.
 * @param legs transfers that no deposit has
 */
export function decideWithdrawals(
  { claims, legs }: { claims: readonly WithdrawalClaim[]; legs: readonly ChainLeg[] },
  rules: WithdrawalRules,
  asOf: Date,
): DecidedWithdrawal[] {
  const free = new Set(legs)
  return foldWithdrawals(claims).flatMap((claim) => {
    const policy = policyOfRoute(walletRoute(claim), rules)
    if (claim.occurredAt.getTime() < (policy.historySinceMs ?? -Infinity)) return []
    const leg = legOf(claim, [...free])
    if (leg !== null) free.delete(leg)
    return [decideWithdrawal(claim, leg, { ...rules, policy, asOf })]
  })
}

const statusRank: Record<WithdrawalClaim['status'], number> = { requested: 0, sent: 1, settled: 2, failed: 2 }

/**
 * The newest statement on each by the time of the service, or else by that of reading. A transaction that was once named
 * stays named.
 */
function foldWithdrawals(claims: readonly WithdrawalClaim[]): WithdrawalClaim[] {
  const sorted = claims.toSorted(
    (left, right) =>
      compareText(keyOf(left), keyOf(right)) ||
      statedAt(left) - statedAt(right) ||
      left.receivedAt.getTime() - right.receivedAt.getTime() ||
      statusRank[left.status] - statusRank[right.status] ||
      compareText(textOf(left), textOf(right)),
  )
  return [...Map.groupBy(sorted, keyOf).values()].flatMap((all) =>
    all.slice(-1).map((newest) => ({ ...newest, tx: all.findLast(({ tx }) => tx !== null)?.tx ?? null })),
  )
}

/** All that it states, so that of two statements of the same moment always the same one counts. */
function textOf({ status, tx, asset, amount, network, to, payout, occurredAt }: WithdrawalClaim): string {
  const stated = [status, tx, asset, amount, network, to, payout.asset, payout.amount, occurredAt.getTime()]
  return stated.join(' ')
}

/** A clock that is ahead dates nothing after its reading. */
function statedAt({ occurredAt, receivedAt }: WithdrawalClaim): number {
  return Math.min(occurredAt.getTime(), receivedAt.getTime())
}

function keyOf({ wallet, withdrawalId }: WithdrawalClaim): string {
  return JSON.stringify([wallet, withdrawalId])
}

/** One that is as stated comes first, one in a block that is gone last. */
function legOf(claim: WithdrawalClaim, legs: readonly ChainLeg[]): ChainLeg | null {
  const { network, to, tx } = claim
  const named = legs.filter((leg) => leg.tx === tx && leg.network === network && leg.to === to)
  const present = named.filter(({ state }) => state !== 'orphaned')
  return present.find((leg) => isAsStated(claim, leg)) ?? present[0] ?? named[0] ?? null
}

function isAsStated({ payout }: WithdrawalClaim, { asset, amount }: ChainLeg): boolean {
  return asset === payout.asset && amount === payout.amount
}

function decideWithdrawal(
  claim: WithdrawalClaim,
  leg: ChainLeg | null,
  { policy, contras, asOf }: Pick<WithdrawalRules, 'policy' | 'contras'> & { asOf: Date },
): DecidedWithdrawal {
  const { paid, booked } = finalLeg(claim, leg)
  const dueAt = new Date(claim.occurredAt.getTime() + policy.settlementWithinMs)
  const isWaiting = paid === null && claim.status === 'settled' && dueAt > asOf
  const problem = isWaiting ? null : problemOf(claim, paid)
  return {
    claim,
    leg,
    state: stateOf(claim, { problem, booked }),
    mismatch: problem === null ? null : mismatchOf(claim, paid, problem),
    recheckAt: isWaiting ? dueAt : null,
    target: booked && targetOf(claim, booked, contras),
    unseen: unseenOf(claim, leg),
  }
}

/** It is booked if it is as stated, also if the service calls the withdrawal failed. */
function finalLeg(claim: WithdrawalClaim, leg: ChainLeg | null): Record<'paid' | 'booked', ChainLeg | null> {
  if (leg?.state !== 'final') return { paid: null, booked: null }
  return { paid: leg, booked: isAsStated(claim, leg) ? leg : null }
}

function unseenOf({ network, to, tx }: WithdrawalClaim, leg: ChainLeg | null): NamedTransaction[] {
  const isUnseen = leg === null || leg.state === 'orphaned'
  return isUnseen && tx !== null ? [{ role: 'recipient', network, tx, address: to }] : []
}

function problemOf(claim: WithdrawalClaim, paid: ChainLeg | null): string | null {
  if (claim.status === 'failed')
    return paid === null ? null : 'the service calls it failed, and its transfer is on the chain'
  if (paid === null)
    return claim.status === 'settled' ? 'the service calls it settled, and no transfer is on the chain' : null
  return isAsStated(claim, paid) ? null : 'the transfer has another amount or asset'
}

function stateOf(
  { status }: WithdrawalClaim,
  { problem, booked }: { problem: string | null; booked: ChainLeg | null },
): WithdrawalState {
  if (booked !== null) return 'paid'
  if (problem !== null) return 'unproved'
  return status === 'settled' ? 'sent' : status
}

function mismatchOf(claim: WithdrawalClaim, paid: ChainLeg | null, problem: string): Mismatch {
  const { wallet, withdrawalId, status, asset, amount, to, tx } = claim
  return {
    kind: 'withdrawal_unproved',
    detail: {
      problem,
      wallet,
      withdrawal: withdrawalId,
      status,
      amount: amount.toString(),
      recipient: to,
      ...(tx !== null && { transaction: tx }),
      ...(paid !== null && { chain: paid.amount.toString(), transfer: paid.ref }),
    },
    loss: lossOf(asset, amount),
  }
}

/** What is withdrawn is no longer owed to the wallet's owner. Own money is with the recipient from then on. */
function targetOf(
  claim: WithdrawalClaim,
  { network, to, ref, blockAt }: ChainLeg,
  contras: readonly ContraRule[] | undefined,
): BookingTarget | null {
  const { wallet, asset, amount } = claim
  const { contra, delivery } = walletTerms(claim, contras)
  // The wallet is the customer's own: what it holds is not in the books.
  if (delivery === 'ends' || amount === 0n) return null
  const debit = contra.startsWith('liabilities:') ? contra : accounts.forwarded(network, to)
  const transfers = [{ debit, credit: accounts.stableWallet(wallet), asset, amount }]
  return { kind: 'withdrawal', transfer: ref, eventAt: blockAt, transfers }
}

type Withdrawn = Pick<WithdrawalClaim, 'wallet' | 'asset'>

/** By the rules that name no payment. */
export function walletTerms(withdrawn: Withdrawn, contras: readonly ContraRule[] | undefined): OwedTerms {
  return owedTermsFor(ownerOf(withdrawn), walletRoute(withdrawn), contras)
}

function walletRoute({ wallet, asset }: Withdrawn): DepositRoute {
  const credited = { networkOut: stableWalletNetwork, assetOut: asset }
  const paid = { networkIn: undefined, assetIn: undefined }
  return { service: serviceOf(wallet), owner: ownerOf({ wallet }), ...paid, ...credited }
}

function ownerOf({ wallet }: Pick<Withdrawn, 'wallet'>): Owner {
  return { kind: 'stable_wallet', id: wallet }
}
