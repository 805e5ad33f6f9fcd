import { sql } from 'kysely'
import { type Address, assetKey } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { type ForwardGroup, joinForwards, payoutOf, quotedOf } from '../faults/forward-faults.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import type { ServiceDepositRow } from '../tables.ts'
import { type DueTransfer, type DueTransferDeps, isUnpaidDeposit, paymentsMax } from './wanted.ts'

/** Where a fault sends what is another's. The sequence of the owners' branches ends below it. */
const misdirectedBranch = 2 ** 31 - 1

/** The forwards to sign on this network; none of their deposits was paid yet, and no attempt still may pay it. */
export async function dueForwards(looking: DueTransferDeps): Promise<DueTransfer[]> {
  const { faults, network } = looking
  const deposits = await waitingDeposits(looking)
    .where('deposit.to_network', '=', network.settings.name)
    .where('deposit.status', 'in', ['converting', 'forwarding'])
    .execute()
  const due = deposits.filter((deposit) => !isLate(looking, deposit))
  return joinForwards(faults, due, Date.now()).flatMap((joined) => forwardsOf(looking, joined))
}

/** The refunds to sign on this network: whole, from the liquidity wallet, which sweeps what was paid. */
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

function waitingDeposits({ db, postponed }: DueTransferDeps) {
  return db
    .selectFrom('service.deposit as deposit')
    .selectAll('deposit')
    .where(isUnpaidDeposit)
    .where(sql<boolean>`deposit.id <> all(${postponed.waiting()})`)
    .orderBy('deposit.sequence')
    .limit(paymentsMax)
}

/** A fault leaves it waiting from its quote on; nothing else that readers see changes until it is forwarded. */
function isLate({ faults, postponed }: DueTransferDeps, deposit: ServiceDepositRow): boolean {
  if (deposit.status !== 'converting' || !faults.strikes('lateForwardRate', deposit)) return false
  const waitMs = deposit.updated_at.getTime() + faults.current().delayMs - Date.now()
  if (waitMs > 0) postponed.putOff(deposit.id, waitMs)
  return waitMs > 0
}

/** One transfer for all of these deposits, and others beside it where a fault wants them. */
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
    const stray = { ...order, amount: one.amount, reference: `${depositId} again` }
    return { kind: 'stray', depositId, isTold: one.isTold, key: depositId, order: stray }
  })
  return [...beside, { kind: 'forward', depositId, alsoPays, key: depositId, order: forward }]
}

function recipientOf({ faults, network, keyring }: DueTransferDeps, deposit: ServiceDepositRow): Address {
  return faults.strikes('misdirectForwardRate', deposit)
    ? keyring.address(network.settings.family, misdirectedBranch)
    : (deposit.to_address as Address)
}
