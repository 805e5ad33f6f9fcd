import type { AssetKey } from './asset.ts'
import type { Brand } from './brand.ts'
import { assert } from './errors.ts'
import { type ClaimStatus, type Owner, stableWalletNetwork, type TransferRef } from './evidence.ts'
import { apiSettlement, deliveredLegs, isCredited, liveLeg } from './judging/legs.ts'
import type { DepositVerdict } from './judging/reconcile.ts'
import { matchesRoute, routeOf } from './judging/route.ts'
import type { DepositEvidence } from './matching/divide.ts'
import { total } from './matching/fold.ts'
import type { MismatchKind } from './mismatch.ts'
import type { Amount } from './money.ts'
import type { RoutePattern } from './policy.ts'
import { earliest, latest } from './time.ts'

export type AccountId = Brand<string, 'AccountId'>

/** Names both sides, so that an unbalanced transfer cannot be expressed. */
export type LedgerTransfer = { debit: AccountId; credit: AccountId; asset: AssetKey; amount: Amount }

export type DepositJournalKind = 'deposit' | 'settlement' | 'refund' | 'write_off' | 'reversal'

/** Its key is unique in the ledger, so that nothing is booked twice. */
export type Journal = {
  key: string
  kind: DepositJournalKind
  transfer: TransferRef
  /** Null for the deposit that is being decided. */
  depositId: bigint | null
  reverses: string | null
  eventAt: Date
  transfers: readonly LedgerTransfer[]
}

/**
 * The journals of a payment and the number of its current deposit. `contra`, the account of the other side, is null
 * while the owner is unknown.
 */
export type PaymentBookings = {
  depositId: bigint | null
  journals: readonly Journal[]
  contra: AccountId | null
}

/**
 * The journals still to be written so that the books match what the verdict proves. A journal that is not proved as
 * booked is reversed, never edited. Calling it again after booking returns none.
 */
export function posting(
  evidence: DepositEvidence,
  verdict: DepositVerdict,
  { depositId, journals: booked, contra }: PaymentBookings,
): Journal[] {
  // Tokens allow transfers of zero.
  const isNothing = evidence.deposit?.amount === 0n
  const targets = isNothing ? [] : targetsOf(evidence, verdict, contra)
  const reversed = new Set(booked.map((journal) => journal.reverses))
  const active = booked.filter((journal) => journal.kind !== 'reversal' && !reversed.has(journal.key))
  const own = active.filter((journal) => journal.depositId === null || journal.depositId === depositId)
  const matching = own.filter((journal) => targets.some((target) => isBooked(target, journal)))
  const missing = targets.filter((target) => !matching.some((journal) => isBooked(target, journal)))
  return [
    ...active.filter((journal) => !matching.includes(journal)).map(reversal),
    ...missing.map((target) => ({
      ...target,
      key: nextKey(target, booked),
      depositId: null,
      reverses: null,
    })),
  ]
}

/** As the chart in docs/accounting.md lists them. */
export const accounts = {
  inTransit: (network: string) => `assets:in_transit:${network}` as AccountId,
  forwarded: (network: string, recipient: string) => `assets:forwarded:${network}:${recipient}` as AccountId,
  stableWallet: (id: string) => `assets:stable_wallet:${id}` as AccountId,
  deposits: (owner: Owner) => `liabilities:deposits:${owner.kind}:${owner.id}` as AccountId,
  suspense: 'liabilities:suspense' as AccountId,
  conversion: 'equity:conversion' as AccountId,
  serviceFees: 'expenses:fees:service' as AccountId,
  tolerance: 'expenses:tolerance' as AccountId,
  writeOff: 'expenses:write_off' as AccountId & 'expenses:write_off',
  receivable: 'assets:receivable:service' as AccountId & 'assets:receivable:service',
}

type Target = Pick<Journal, 'kind' | 'transfer' | 'eventAt' | 'transfers'>

function targetsOf(evidence: DepositEvidence, verdict: DepositVerdict, contra: AccountId | null): Target[] {
  const paid = depositTarget(evidence, verdict, contra)
  const settled = settlementTarget(evidence, verdict)
  if (paid === null || settled !== null) return [paid, settled].filter((one) => one !== null)
  const ended = refundTarget(paid, evidence, verdict) ?? writeOffTarget(evidence)
  return ended === null ? [paid] : [paid, ended]
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
  contra: AccountId | null,
): Target | null {
  if (deposit === null || finalAt === null) return null
  const isClaimed = (webhook !== null || api !== null) && contra !== null
  const isSuspended = mismatches.some(({ kind }) => suspending.has(kind))
  if (!isClaimed && !isSuspended) return null
  const credit = isClaimed ? contra : accounts.suspense
  const { asset, amount, network } = deposit
  const transfers = [{ debit: accounts.inTransit(network), credit, asset, amount }]
  return { kind: 'deposit', transfer: deposit.ref, eventAt: deposit.blockAt, transfers }
}

/** A proved delivery: out of transit, over the conversion account, to its destination. */
function settlementTarget(evidence: DepositEvidence, verdict: DepositVerdict): Target | null {
  const leg = liveLeg(evidence.deposit)
  if (leg === null || !isProved(evidence, verdict)) return null
  const out: LedgerTransfer = {
    debit: accounts.conversion,
    credit: accounts.inTransit(leg.network),
    asset: leg.asset,
    amount: leg.amount,
  }
  const transfers = [
    out,
    ...(isCredited(evidence) ? creditTransfers(evidence) : forwardTransfers(evidence)),
    ...feeTransfers(evidence, verdict),
    ...toleranceTransfers(evidence, verdict),
  ]
  const eventAt =
    latest(deliveredLegs(evidence).map(({ blockAt }) => blockAt)) ?? firstStatedAt(evidence, 'settled')
  return {
    kind: 'settlement',
    transfer: leg.ref,
    eventAt: eventAt ?? leg.blockAt,
    transfers: transfers.filter(({ amount }) => amount > 0n),
  }
}

/**
 * A record that is revised later does not change it. The service's clock cannot date it before the payment, or after
 * the receipt of the claim.
 */
function firstStatedAt({ claims, deposit }: DepositEvidence, said: ClaimStatus): Date | null {
  const saying = claims.api.filter(({ status }) => status === said)
  const first = earliest(saying.flatMap(({ occurredAt, receivedAt }) => [occurredAt, receivedAt]))
  return first && latest([first, deposit?.blockAt ?? null])
}

/** If a part was delivered, only a person can determine what went back. */
function refundTarget(paid: Target, evidence: DepositEvidence, { state }: DepositVerdict): Target | null {
  if (state !== 'refunded' || deliveredLegs(evidence).length > 0) return null
  const eventAt = firstStatedAt(evidence, 'refunded') ?? paid.eventAt
  return { ...paid, kind: 'refund', eventAt, transfers: mirrored(paid.transfers) }
}

/** A delivery that is proved anyway overrides a write-off. */
function writeOffTarget({ deposit, writeOff }: DepositEvidence): Target | null {
  if (deposit === null || writeOff === null) return null
  const { asset, amount, network, ref } = deposit
  const debit = writeOff.account === accounts.writeOff ? accounts.writeOff : accounts.receivable
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
    credit: accounts.conversion,
    asset,
    amount,
  }))
}

function creditTransfers({ api, approval }: DepositEvidence): LedgerTransfer[] {
  const { settlement } = api ?? {}
  if (!settlement?.amount || !approval) return []
  assert(settlement.network === stableWalletNetwork, 'a credit names the StableWallet network')
  const debit = accounts.stableWallet(approval.owner.id)
  return [{ debit, credit: accounts.conversion, asset: settlement.asset, amount: settlement.amount }]
}

function feeTransfers(evidence: DepositEvidence, { fee }: DepositVerdict): LedgerTransfer[] {
  const settlement = apiSettlement(evidence)
  if (settlement === null || fee === null) return []
  return [{ debit: accounts.serviceFees, credit: accounts.conversion, asset: settlement.asset, amount: fee }]
}

/** The tolerated shortfall or excess. The conversion account then holds the stated amount. */
function toleranceTransfers(evidence: DepositEvidence, { shortfall }: DepositVerdict): LedgerTransfer[] {
  const settlement = apiSettlement(evidence)
  if (settlement === null) return []
  const { tolerance, conversion } = accounts
  const { asset } = settlement
  return shortfall > 0n
    ? [{ debit: tolerance, credit: conversion, asset, amount: shortfall as Amount }]
    : [{ debit: conversion, credit: tolerance, asset, amount: -shortfall as Amount }]
}

/** A reversal belongs to the original's deposit, so that each deposit's amount in transit adds up. */
function reversal(journal: Journal): Journal {
  const { key } = journal
  const transfers = mirrored(journal.transfers)
  return { ...journal, key: `reversal/${key}`, kind: 'reversal', reverses: key, transfers }
}

function mirrored(transfers: readonly LedgerTransfer[]): LedgerTransfer[] {
  return transfers.map(({ debit, credit, ...rest }) => ({ debit: credit, credit: debit, ...rest }))
}

function isBooked(target: Target, journal: Journal): boolean {
  const isThen = target.eventAt.getTime() === journal.eventAt.getTime()
  return isThen && isSame(target, journal) && textOf(target.transfers) === textOf(journal.transfers)
}

/** The number distinguishes the bookings of a target that was reversed and booked again. */
function nextKey(target: Target, booked: readonly Journal[]): string {
  const times = booked.filter((journal) => isSame(target, journal)).length
  return `${target.kind}/${target.transfer}#${times + 1}`
}

function isSame(target: Target, journal: Journal): boolean {
  return journal.kind === target.kind && journal.transfer === target.transfer
}

function textOf(transfers: readonly LedgerTransfer[]): string {
  return transfers
    .map(({ debit, credit, asset, amount }) => `${debit} ${credit} ${asset} ${amount}`)
    .join('\n')
}

/** `{kind}` and `{id}` in the account stand for those of the owner. */
export type ContraRule = { pattern: RoutePattern; account: string }

/** Null while the owner is unknown. */
export function contraOf(evidence: DepositEvidence, rules: readonly ContraRule[] = []): AccountId | null {
  const owner = evidence.approval?.owner
  if (owner === undefined) return null
  const route = routeOf(evidence)
  const found = rules.find(({ pattern }) => matchesRoute(pattern, route))
  if (found === undefined) return accounts.deposits(owner)
  return found.account.replaceAll(/\{(kind|id)\}/g, (_all, name: 'kind' | 'id') => owner[name]) as AccountId
}
