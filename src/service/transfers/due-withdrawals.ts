import { sql } from 'kysely'
import type { NetworkSettings } from '../../chain/port.ts'
import { assetKey } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { liquidityBranch } from '../keyring/keyring.ts'
import { newId } from '../new-id.ts'
import type { WithdrawalRow } from './tables.ts'
import { type DueTransfer, type DueTransferDeps, isUnpaidWithdrawal, paymentsMax } from './wanted.ts'
import { inNetworkUnits } from './withdrawals.ts'

/** The withdrawals to sign on this network. */
export async function dueWithdrawals({ db, network, postponed }: DueTransferDeps): Promise<DueTransfer[]> {
  const rows = await db
    .selectFrom('service.withdrawal as withdrawal')
    .selectAll('withdrawal')
    .where('network', '=', network.settings.name)
    .where('status', 'in', ['requested', 'sending'])
    .where(isUnpaidWithdrawal)
    .where(sql<boolean>`'withdrawal/' || sequence <> all(${postponed.waiting()})`)
    .orderBy('sequence')
    .limit(paymentsMax)
    .execute()
  return rows.map((row) => orderOf(row, network.settings))
}

/** The reference is drawn by lot: the ids that a wallet's owner chooses are not for the chain to see. */
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
