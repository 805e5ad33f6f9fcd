import { sql } from 'kysely'
import type { Logger } from 'pino'
import { type Address, assetKey, type NetworkSettings } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { inTransaction } from '../../store/database.ts'
import { convertDeposits } from '../deposits/convert-deposits.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Prices } from '../deposits/prices.ts'
import { recordScan } from '../deposits/record-scan.ts'
import { type ForwardGroup, joinForwards, payoutOf, quotedOf } from '../faults/deposit-faults.ts'
import type { Faults } from '../faults/faults.ts'
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import type { NetworkClient } from '../network/port.ts'
import { newId } from '../new-id.ts'
import { watchedAddresses } from '../owners.ts'
import type { RetryBackoff } from '../running/loop.ts'
import { mapBounded } from '../running/requests.ts'
import type { DepositServiceSettings, SweepSettings } from '../settings.ts'
import { readPosition } from '../streams.ts'
import type { ServiceDatabase, ServiceDepositRow, WithdrawalRow } from '../tables.ts'
import { dueSweeps, sweepsMax } from './due-sweeps.ts'
import {
  type ChainNonces,
  type DraftedTransfer,
  type DueTransfer,
  type DueTransferDeps,
  isUnpaidDeposit,
  isUnpaidWithdrawal,
  paymentsMax,
  postpone,
  sendTransfers,
  type TransferSigningDeps,
} from './due-transfer.ts'
import { replaceFees } from './replace-fees.ts'
import { settleTransfers } from './settle-transfers.ts'
import { storeSigned } from './store-signed.ts'
import { inNetworkUnits } from './withdrawals.ts'

export type NetworkLoopDeps = {
  settings: Pick<DepositServiceSettings, 'networks' | 'quotes' | 'replaceAfterMs'>
  db: ServiceDatabase
  deposits: Deposits
  keyring: Keyring
  prices: Prices
  faults: Faults
  log: Logger
  network: NetworkClient
  /** Failed lately, waiting for a retry. */
  backoff: RetryBackoff
  /** Resolves when transfers of an earlier run are settled or sent. Nothing is signed before that. */
  resumed(): Promise<void>
}

export type Listeners = {
  changed(): void
  final(): void
}

/** Returns whether more work is waiting. */
export function workNetwork(work: NetworkLoopDeps, listeners: Listeners): () => Promise<boolean> {
  const { network, settings } = work
  const follow = createFollower(work)
  let followed: bigint | null = null
  return async () => {
    const { height, more, recorded } = await readChain(work)
    await work.resumed()
    const converted = await convertDeposits({ ...work, terms: settings.quotes }, network.settings.name)
    const paid = await payDue(work)
    // Outcomes change only when the final height grows.
    const isNews = followed !== height
    const ended = isNews ? await follow() : 0
    followed = height
    if (isNews) listeners.final()
    if (recorded || converted + paid + ended > 0) listeners.changed()
    return more || paid >= paymentsMax
  }
}

/** Sweeps have a loop of their own, so that they do not delay forwards. Returns whether more are waiting. */
export async function sweepNetwork(work: NetworkLoopDeps, sweep: SweepSettings): Promise<boolean> {
  await work.resumed()
  return (await signTransfers(work, await dueSweeps(work, sweep))) >= sweepsMax
}

async function readChain({ settings, db, deposits, network }: NetworkLoopDeps) {
  const scan = await network.scan(await readPosition(db, network), () =>
    watchedAddresses(db, network.settings),
  )
  const recorded = await recordScan({ db, deposits, networks: settings.networks }, network.settings, scan)
  return { height: scan.position.finalHeight, more: scan.more, recorded }
}

async function payDue(work: NetworkLoopDeps): Promise<number> {
  const wanted = [...(await dueForwards(work)), ...(await dueRefunds(work)), ...(await dueWithdrawals(work))]
  return signTransfers(work, wanted)
}

/** Checks every half `replaceAfterMs`: a low fee shows only after a while. */
function createFollower(work: NetworkLoopDeps): () => Promise<number> {
  const { replaceAfterMs } = work.settings
  let replaceAt = 0
  return async () => {
    const settled = await settleTransfers(work)
    if (Date.now() < replaceAt) return settled
    replaceAt = Date.now() + replaceAfterMs / 2
    return settled + (await replaceFees(work, replaceAfterMs))
  }
}

async function dueWithdrawals({ db, network, backoff }: DueTransferDeps): Promise<DueTransfer[]> {
  const rows = await db
    .selectFrom('service.withdrawal as withdrawal')
    .selectAll('withdrawal')
    .where('network', '=', network.settings.name)
    .where('status', 'in', ['requested', 'sending'])
    .where(isUnpaidWithdrawal)
    .where(sql<boolean>`'withdrawal/' || sequence <> all(${backoff.waiting()})`)
    .orderBy('sequence')
    .limit(paymentsMax)
    .execute()
  return rows.map((row) => orderOf(row, network.settings))
}

/** The reference is random, so that ids chosen by wallet owners do not appear on the chain. */
function orderOf(
  { sequence, recipient, asset: code, amount }: WithdrawalRow,
  network: NetworkSettings,
): DueTransfer {
  const key = assetKey(network.name, code)
  const asset = network.assets.find((candidate) => candidate.key === key)
  const sent = asset === undefined ? null : inNetworkUnits(BigInt(amount), asset.decimals)
  assert(sent !== null, 'a withdrawal was accepted of an asset and an amount that its network has')
  const order = {
    branch: liquidityBranch,
    to: recipient,
    asset: key,
    amount: sent,
    feeFrom: 'payer',
  } as const
  return {
    kind: 'withdrawal',
    withdrawal: sequence,
    key: `withdrawal/${sequence}`,
    order: { ...order, reference: newId('wdr') },
  }
}

const requestsAtOnce = 16

/**
 * Stores them with their status changes and events before anything is sent: after a crash, nothing was signed that
 * could land unless it is stored. Transfers that cannot be signed now are postponed.
 * @returns how many were signed
 */
export async function signTransfers(
  signing: TransferSigningDeps,
  wanted: readonly DueTransfer[],
): Promise<number> {
  if (wanted.length === 0) return 0
  const { db, network, log } = signing
  const nonces = await chainNonces(network, wanted)
  const drafted = (await mapBounded(wanted, requestsAtOnce, (one) => draft(signing, one))).filter(
    (one) => one !== null,
  )
  if (drafted.length === 0) return 0
  const signed = await inTransaction(db, (tx) => storeSigned({ ...signing, tx }, drafted, nonces))
  await sendTransfers(
    network,
    signed.map((one) => one.signed),
    log,
  )
  return signed.length
}

async function chainNonces(network: NetworkClient, wanted: readonly DueTransfer[]): Promise<ChainNonces> {
  const branches = [...new Set(wanted.map(({ order }) => order.branch))]
  const entries = await mapBounded(
    branches,
    requestsAtOnce,
    async (branch) => [branch, await network.nextNonce(branch)] as const,
  )
  return new Map(entries)
}

async function draft(signing: TransferSigningDeps, wanted: DueTransfer): Promise<DraftedTransfer | null> {
  try {
    return { wanted, draft: await signing.network.draft(wanted.order) }
  } catch (error) {
    postpone(signing, wanted, error)
    return null
  }
}

/** Owner branches end below it. */
const misdirectedBranch = 2 ** 31 - 1

/** Unpaid, without an open attempt that can still pay. */
export async function dueForwards(looking: DueTransferDeps): Promise<DueTransfer[]> {
  const { faults, network } = looking
  const deposits = await waitingDeposits(looking)
    .where('deposit.to_network', '=', network.settings.name)
    .where('deposit.status', 'in', ['converting', 'forwarding'])
    .execute()
  const due = deposits.filter((deposit) => !isLate(looking, deposit))
  return joinForwards(faults, due, Date.now()).flatMap((joined) => forwardsOf(looking, joined))
}

/** The liquidity wallet pays in full and sweeps the deposits. */
export async function dueRefunds(looking: DueTransferDeps): Promise<DueTransfer[]> {
  const { name } = looking.network.settings
  const deposits = await waitingDeposits(looking)
    .where('deposit.network', '=', name)
    .where('deposit.status', '=', 'refunding')
    .execute()
  return deposits.map(({ id, contract, refund_address: to, refund_amount: amount }): DueTransfer => {
    assert(to !== null && amount !== null, 'a refund has an address and an amount')
    const asset = assetKey(name, contract ?? 'native')
    const order = { branch: liquidityBranch, to, asset, amount: BigInt(amount), feeFrom: 'payer' } as const
    return { kind: 'refund', depositId: id, key: id, order: { ...order, reference: id } }
  })
}

function waitingDeposits({ db, backoff }: DueTransferDeps) {
  return db
    .selectFrom('service.deposit as deposit')
    .selectAll('deposit')
    .where(isUnpaidDeposit)
    .where(sql<boolean>`deposit.id <> all(${backoff.waiting()})`)
    .orderBy('deposit.sequence')
    .limit(paymentsMax)
}

/** A fault delays it after its quote; readers see no other change until it is forwarded. */
function isLate({ faults, backoff }: DueTransferDeps, deposit: ServiceDepositRow): boolean {
  if (deposit.status !== 'converting' || !faults.strikes('lateForwardRate', deposit)) return false
  const waitMs = deposit.updated_at.getTime() + faults.current().delayMs - Date.now()
  if (waitMs > 0) backoff.delay(deposit.id, waitMs)
  return waitMs > 0
}

function forwardsOf(looking: DueTransferDeps, [deposit, ...others]: ForwardGroup): DueTransfer[] {
  const { faults, network } = looking
  const { id: depositId } = deposit
  const payout = payoutOf(faults, deposit)
  const order = {
    branch: liquidityBranch,
    to: recipientOf(looking, deposit),
    asset: assetKey(network.settings.name, deposit.to_contract ?? 'native'),
    feeFrom: 'payer',
  } as const
  const amount = others.reduce((sum, other) => sum + quotedOf(other), payout.amount)
  const forward = { ...order, amount, reference: depositId }
  const alsoPays = others.map(({ id }) => id)
  const beside = payout.beside.map((one): DueTransfer => {
    const extra = { ...order, amount: one.amount, reference: `${depositId} again` }
    return { kind: 'extra', depositId, isReported: one.isReported, key: depositId, order: extra }
  })
  return [...beside, { kind: 'forward', depositId, alsoPays, key: depositId, order: forward }]
}

function recipientOf({ faults, network, keyring }: DueTransferDeps, deposit: ServiceDepositRow): Address {
  return faults.strikes('misdirectForwardRate', deposit)
    ? keyring.address(network.settings.family, misdirectedBranch)
    : (deposit.to_address as Address)
}
