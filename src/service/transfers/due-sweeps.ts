import { sql } from 'kysely'
import { type Address, type AssetCode, assetCode, assetKey } from '../../core/asset.ts'
import { parseAmount } from '../../core/money.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import type { NetworkClient, TransferOrder } from '../network/port.ts'
import { newId } from '../new-id.ts'
import { mapBounded } from '../running/requests.ts'
import type { SweepSettings } from '../settings.ts'
import { type DueTransfer, type DueTransferDeps, postpone, sweepKey, topUpKey } from './due-transfer.ts'

type Pile = { branch: number; address: Address; code: AssetCode; amount: string; deposits: string[] }

export const sweepsMax = 50
const requestsAtOnce = 8

/**
 * Signs one sweep per deposit address at a time. An address that cannot pay for its token transfer first receives the
 * missing gas.
 */
export async function dueSweeps(looking: DueTransferDeps, sweep: SweepSettings): Promise<DueTransfer[]> {
  const piles = await findPiles(looking, sweep)
  const wanted = await mapBounded(piles, requestsAtOnce, (pile) => sweepOf(looking, pile))
  return wanted.filter((one) => one !== null)
}

/** Tokens first: the native coin at the same address pays for them. */
async function findPiles(
  { db, network, backoff }: DueTransferDeps,
  { minimums }: SweepSettings,
): Promise<readonly Pile[]> {
  const { name, family, assets } = network.settings
  const least = Object.fromEntries(
    assets.map(({ key, symbol, decimals }) => [
      assetCode(key),
      parseAmount(minimums[`${name}/${symbol}`] ?? '0', decimals).toString(),
    ]),
  )
  const waiting = backoff.waiting()
  const column = sql.ref(family === 'evm' ? 'evm_address' : 'solana_address')
  const { rows } = await sql<Pile>`
    with pile as (
      select owner.branch, deposit.address, coalesce(deposit.contract, 'native') as code,
        sum(deposit.amount) as amount, array_agg(deposit.id) as deposits, min(deposit.sequence) as oldest
      from service.deposit join service.owner on owner.${column} = deposit.address
      where deposit.network = ${name} and deposit.sweep_id is null
        and deposit.status <> 'detected' and deposit.reason is distinct from 'vanished'
      group by owner.branch, deposit.address, deposit.contract
    ), next as (
      select distinct on (branch) pile.* from pile
      where amount >= (${JSON.stringify(least)}::jsonb ->> code)::numeric
        and 'sweep/' || branch || '/' || code <> all(${waiting})
        and (code = 'native' or 'top_up/' || address <> all(${waiting}))
        and not exists (
          select from service.transfer
          where network = ${name} and outcome is null
            and ((kind = 'sweep' and transfer.branch = pile.branch)
              or (kind = 'top_up' and transfer.to_address = pile.address)))
      order by branch, code = 'native', oldest
    )
    select branch, address, code, amount, deposits from next order by oldest limit ${sweepsMax}`.execute(db)
  return rows
}

/** A failed query, such as for a frozen address, does not block other sweeps. */
async function sweepOf(looking: DueTransferDeps, pile: Pile): Promise<DueTransfer | null> {
  const key = sweepKey(pile.branch, pile.code)
  try {
    return await orderOf(looking, pile, key)
  } catch (error) {
    postpone(looking, { kind: 'sweep', key }, error)
    return null
  }
}

async function orderOf(
  { network, keyring }: DueTransferDeps,
  pile: Pile,
  key: string,
): Promise<DueTransfer | null> {
  const { branch, code } = pile
  const order: TransferOrder = {
    branch,
    to: keyring.address(network.settings.family, liquidityBranch),
    asset: assetKey(network.settings.name, code),
    amount: await sweepable(network, pile),
    feeFrom: 'amount',
    reference: newId('swp'),
  }
  if (order.amount === 0n) return null
  const lack = code === 'native' ? 0n : await network.gasLack(order)
  if (lack === 0n) return { kind: 'sweep', depositIds: pile.deposits, key, order }
  const gas = { asset: assetKey(network.settings.name, 'native'), amount: lack, feeFrom: 'payer' } as const
  const topUp: TransferOrder = {
    branch: liquidityBranch,
    to: pile.address,
    ...gas,
    reference: order.reference,
  }
  return { kind: 'top_up', key: topUpKey(pile.address), order: topUp }
}

/** Earlier token transfers may have spent some of the native coin. */
async function sweepable(network: NetworkClient, { branch, code, amount }: Pile): Promise<bigint> {
  const recorded = BigInt(amount)
  if (code !== 'native') return recorded
  const balance = await network.balance(branch, assetKey(network.settings.name, code))
  return balance < recorded ? balance : recorded
}
