import type { AssetKey } from './asset.ts'
import { type AccountId, accounts } from './chart.ts'
import { assert } from './errors.ts'
import { type ClaimStatus, stableWalletNetwork, statedAt, type TransferRef } from './evidence.ts'
import { apiSettlement, deliveredLegs, isCredited, liveLeg } from './judging/legs.ts'
import type { DepositVerdict } from './judging/reconcile.ts'
import type { WriteOff } from './matching/decisions.ts'
import type { DepositEvidence } from './matching/divide.ts'
import { total } from './matching/fold.ts'
import { type MismatchKind, mismatchKinds } from './mismatch.ts'
import type { Amount } from './money.ts'
import type { OwedTerms } from './owed.ts'
import type { Policy } from './policy.ts'
import { earliest, latest } from './time.ts'

/**
 * Names both sides, so that an unbalanced transfer cannot be expressed. `leg` only if it is not its place in its
 * journal, which was altered.
 */
export type LedgerTransfer = Sides & { asset: AssetKey; amount: Amount; leg?: number }
type Sides = { debit: AccountId; credit: AccountId }

/** A journal that the books must hold. */
export type BookingTarget = {
  kind: 'deposit' | 'settlement' | 'conversion' | 'shortage' | 'refund' | 'write_off' | 'withdrawal'
  transfer: TransferRef
  eventAt: Date
  transfers: readonly LedgerTransfer[]
}

/** @param terms null while the owner is unknown */
export function targetsOf(
  evidence: DepositEvidence,
  verdict: DepositVerdict,
  terms: OwedTerms | null,
): BookingTarget[] {
  const paid = depositTarget(evidence, verdict, terms)
  // Tokens allow transfers of zero.
  if (paid === null || evidence.deposit?.amount === 0n) return []
  const settled = terms === null ? [] : settledTargets(evidence, verdict, terms)
  const ended =
    settled.length > 0 ? null : (refundTarget(paid, evidence, verdict) ?? writeOffTarget(evidence, paid))
  const targets = [paid, ...settled, ...(ended === null ? [] : [ended])].map(withoutZeros)
  return targets.filter(({ transfers }) => transfers.length > 0)
}

/**
 * What the bookings leave in trading accounts once the delivery is as old as it may take. A mismatch of amounts names
 * the same money, so there is none besides it.
 */
export function findOpenConversion(
  targets: readonly BookingTarget[],
  { settledAt, mismatches }: DepositVerdict,
  { terms, policy, now }: { terms: OwedTerms | null; policy: Policy; now: Date },
): Pick<DepositVerdict, 'mismatches' | 'recheckAt'> {
  const [left] = leftInTrading(targets)
  const isNamed = mismatches.some(({ kind }) => mismatchKinds[kind].family === 'value')
  if (left === undefined || settledAt === null || terms?.delivery === 'stays' || isNamed)
    return { mismatches: [], recheckAt: null }
  const dueAt = new Date(settledAt.getTime() + policy.settlementWithinMs)
  if (dueAt > now) return { mismatches: [], recheckAt: dueAt }
  const [asset, amount] = left
  const detail = { asset, amount: amount.toString(), since: settledAt.toISOString() }
  return { mismatches: [{ kind: 'conversion_open', detail, loss: null }], recheckAt: null }
}

/** Above zero if it was given away. */
function leftInTrading(targets: readonly BookingTarget[]): [AssetKey, bigint][] {
  const sums = new Map<AssetKey, bigint>()
  for (const { debit, credit, asset, amount } of targets.flatMap(({ transfers }) => transfers)) {
    const account = accounts.trading(asset)
    if (debit === account) sums.set(asset, (sums.get(asset) ?? 0n) + amount)
    if (credit === account) sums.set(asset, (sums.get(asset) ?? 0n) - amount)
  }
  return [...sums].filter(([, amount]) => amount !== 0n)
}

/** The service may state amounts and fees of zero. */
function withoutZeros(target: BookingTarget): BookingTarget {
  return { ...target, transfers: target.transfers.filter(({ amount }) => amount > 0n) }
}

function settledTargets(
  evidence: DepositEvidence,
  verdict: DepositVerdict,
  terms: OwedTerms,
): BookingTarget[] {
  const settled = settlementTarget(evidence, verdict, terms)
  if (settled === null) return []
  return [
    settled,
    conversionTarget(settled, evidence, { verdict, terms }),
    shortageTarget(settled, verdict),
    shortageWriteOff(evidence, { verdict, terms }),
  ].filter((target) => target !== null)
}

const suspending: ReadonlySet<MismatchKind> = new Set([
  'unreported',
  'unknown_address',
  'address_changed',
  'below_minimum',
  'unsupported_token',
])

/** A final payment: in transit, owed to its owner, or held in suspense if the service failed to claim it in time. */
function depositTarget(
  { deposit, webhook, api }: DepositEvidence,
  { finalAt, mismatches }: DepositVerdict,
  terms: OwedTerms | null,
): BookingTarget | null {
  if (deposit === null || finalAt === null) return null
  const isClaimed = (webhook !== null || api !== null) && terms !== null
  const isSuspended = mismatches.some(({ kind }) => suspending.has(kind))
  if (!isClaimed && !isSuspended) return null
  const credit = isClaimed ? terms.contra : accounts.suspense
  const { asset, amount, network } = deposit
  const transfers = [{ debit: accounts.inTransit(network), credit, asset, amount }]
  return { kind: 'deposit', transfer: deposit.ref, eventAt: deposit.blockAt, transfers }
}

/** A proved delivery: out of transit, over the trading accounts, to its destination. */
function settlementTarget(
  evidence: DepositEvidence,
  verdict: DepositVerdict,
  terms: OwedTerms,
): BookingTarget | null {
  const leg = liveLeg(evidence.deposit)
  if (leg === null || !isProved(evidence, verdict)) return null
  const out: LedgerTransfer = {
    debit: accounts.trading(leg.asset),
    credit: accounts.inTransit(leg.network),
    asset: leg.asset,
    amount: leg.amount,
  }
  const transfers = [
    out,
    ...(isCredited(evidence) ? creditTransfers(evidence) : forwardTransfers(evidence)),
    ...feeTransfers(evidence, verdict, terms),
    ...toleranceTransfers(evidence, verdict),
  ]
  const eventAt =
    latest(deliveredLegs(evidence).map(({ blockAt }) => blockAt)) ?? firstStatedAt(evidence, 'settled')
  return {
    kind: 'settlement',
    transfer: leg.ref,
    eventAt: eventAt ?? leg.blockAt,
    transfers,
  }
}

/**
 * What is owed moves into the asset delivered: the stated amount and the fee, also while a part of it is missing.
 * Nothing moves if that is the amount and the asset paid.
 */
function conversionTarget(
  settled: BookingTarget,
  evidence: DepositEvidence,
  { verdict, terms: { contra, delivery } }: { verdict: DepositVerdict; terms: OwedTerms },
): BookingTarget | null {
  const [paid] = settled.transfers
  const owed = owedFor(evidence, verdict)
  if (paid === undefined || owed === null || delivery === 'stays') return null
  const { asset, amount } = owed
  const isSame = asset === paid.asset && amount === paid.amount
  const moved: LedgerTransfer[] = [
    { debit: contra, credit: accounts.trading(paid.asset), asset: paid.asset, amount: paid.amount },
    { debit: accounts.trading(asset), credit: contra, asset, amount },
  ]
  const received = settled.transfers.filter(({ debit }) => debit.startsWith('assets:'))
  const ended = received.map((one): LedgerTransfer => ({ ...one, debit: contra, credit: one.debit }))
  const transfers = [...(isSame ? [] : moved), ...(delivery === 'ends' ? ended : [])]
  return { ...settled, kind: 'conversion', transfers }
}

/** As stated, plus the fee. Null until the API has called the deposit settled, and while the chain contradicts it. */
function owedFor(
  evidence: DepositEvidence,
  { fee, mismatches }: DepositVerdict,
): Pick<LedgerTransfer, 'asset' | 'amount'> | null {
  const { asset, amount = null } = apiSettlement(evidence) ?? {}
  if (asset === undefined || amount === null || !evidence.statuses.api.has('settled')) return null
  const legs = deliveredLegs(evidence)
  const isOtherUnit = legs.length > 0 && mismatches.some(({ kind }) => kind === 'decimals_mismatch')
  if (isOtherUnit || legs.some((leg) => leg.asset !== asset)) return null
  return { asset, amount: (amount + (fee ?? 0n)) as Amount }
}

/** The rest that is overdue is owed by the service. */
function shortageTarget(settled: BookingTarget, { shortage }: DepositVerdict): BookingTarget | null {
  if (shortage === null) return null
  const { asset, amount, dueAt } = shortage
  const transfers = [{ debit: accounts.receivable, credit: accounts.trading(asset), asset, amount }]
  const eventAt = latest([dueAt, settled.eventAt]) ?? dueAt
  return { ...settled, kind: 'shortage', eventAt, transfers }
}

/** Of what a delivery lacks. If it lacks more by now, the rest stays owed by the service. */
function shortageWriteOff(
  { deposit, writeOff }: DepositEvidence,
  { verdict: { shortage }, terms }: { verdict: DepositVerdict; terms: OwedTerms },
): BookingTarget | null {
  if (deposit === null || writeOff?.of !== 'shortage' || shortage?.asset !== writeOff.asset) return null
  const { asset } = shortage
  const amount = shortage.amount < writeOff.amount ? shortage.amount : writeOff.amount
  const debit = accountOf(writeOff, terms.contra)
  if (debit === accounts.receivable) return null
  const transfers = [{ debit, credit: accounts.receivable, asset, amount }]
  const eventAt = latest([writeOff.at, shortage.dueAt]) ?? writeOff.at
  return { kind: 'write_off', transfer: deposit.ref, eventAt, transfers }
}

function accountOf({ account }: WriteOff, owed: AccountId): AccountId {
  if (account === 'owner') return owed
  return account === accounts.writeOff ? accounts.writeOff : accounts.receivable
}

/** A record that is revised later does not change it, and the service's clock cannot date it before the payment. */
function firstStatedAt({ claims, deposit }: DepositEvidence, said: ClaimStatus): Date | null {
  const first = earliest(claims.api.filter(({ status }) => status === said).map(statedAt))
  return first && latest([first, deposit?.blockAt ?? null])
}

/** If a part was delivered, only a person can determine what went back. */
function refundTarget(
  paid: BookingTarget,
  evidence: DepositEvidence,
  { state }: DepositVerdict,
): BookingTarget | null {
  if (state !== 'refunded' || deliveredLegs(evidence).length > 0) return null
  const eventAt = firstStatedAt(evidence, 'refunded') ?? paid.eventAt
  return { ...paid, kind: 'refund', eventAt, transfers: mirrored(paid.transfers) }
}

/** Of a payment that is not delivered. */
function writeOffTarget({ deposit, writeOff }: DepositEvidence, paid: BookingTarget): BookingTarget | null {
  if (deposit === null || writeOff?.of !== 'in_transit') return null
  const { asset, amount, network, ref } = deposit
  const debit = accountOf(writeOff, paid.transfers[0]?.credit ?? accounts.suspense)
  const transfers = [{ debit, credit: accounts.inTransit(network), asset, amount }]
  return { kind: 'write_off', transfer: ref, eventAt: writeOff.at, transfers }
}

/**
 * The API must state the delivery too, because only the API states the fee. Exception: it calls the deposit refunded
 * and never stated a delivery.
 */
function isProved(evidence: DepositEvidence, { settledAt, shortfall }: DepositVerdict): boolean {
  const { api } = evidence
  const stated = apiSettlement(evidence)?.amount ?? null
  if (settledAt === null) return false
  if (stated === null) return api?.status === 'refunded' && !isCredited(evidence)
  return api?.status === 'settled' || total(deliveredLegs(evidence)) + shortfall >= stated
}

function forwardTransfers(evidence: DepositEvidence): LedgerTransfer[] {
  return deliveredLegs(evidence).map(({ network, to, asset, amount }) => ({
    debit: accounts.forwarded(network, to),
    credit: accounts.trading(asset),
    asset,
    amount,
  }))
}

function creditTransfers({ api, approval }: DepositEvidence): LedgerTransfer[] {
  const { settlement } = api ?? {}
  if (!settlement?.amount || !approval) return []
  assert(settlement.network === stableWalletNetwork, 'a credit names the StableWallet network')
  const { asset, amount } = settlement
  return [{ debit: accounts.stableWallet(approval.owner.id), credit: accounts.trading(asset), asset, amount }]
}

function feeTransfers(
  evidence: DepositEvidence,
  { fee: amount }: DepositVerdict,
  { contra, fee }: OwedTerms,
): LedgerTransfer[] {
  const { asset } = apiSettlement(evidence) ?? {}
  if (asset === undefined || amount === null) return []
  const debit = fee === 'us' ? accounts.serviceFees : contra
  return [{ debit, credit: accounts.trading(asset), asset, amount }]
}

/** The tolerated shortfall or excess. The trading account then holds the stated amount. */
function toleranceTransfers(evidence: DepositEvidence, { shortfall }: DepositVerdict): LedgerTransfer[] {
  const { asset } = apiSettlement(evidence) ?? {}
  if (asset === undefined) return []
  const [tolerance, trading] = [accounts.tolerance, accounts.trading(asset)]
  return shortfall > 0n
    ? [{ debit: tolerance, credit: trading, asset, amount: shortfall as Amount }]
    : [{ debit: trading, credit: tolerance, asset, amount: -shortfall as Amount }]
}

export function mirrored(transfers: readonly LedgerTransfer[]): LedgerTransfer[] {
  return transfers.map(({ debit, credit, ...rest }) => ({ debit: credit, credit: debit, ...rest }))
}
