import { sql, type Transaction } from 'kysely'
import type { NetworkName } from '../../core/asset.ts'
import type { BalanceMovement } from '../../core/balance-proof.ts'
import type { Tables } from '../tables.ts'

/** Stores movements. Skips those already stored for the same block. */
export async function appendMovements(
  tx: Transaction<Tables>,
  movements: readonly BalanceMovement[],
): Promise<void> {
  if (movements.length === 0) return
  await sql`
    insert into chain_movement (network, tx, index, asset, address, change, height, block_hash)
    select * from unnest(
      ${movements.map(({ network }) => network)}::text[], ${movements.map(({ tx: id }) => id)}::text[],
      ${movements.map(({ index }) => index)}::text[], ${movements.map(({ asset }) => asset)}::text[],
      ${movements.map(({ address }) => address)}::text[], ${movements.map(({ change }) => change)}::numeric[],
      ${movements.map(({ height }) => height)}::bigint[], ${movements.map(({ blockHash }) => blockHash)}::text[]
    ) on conflict do nothing`.execute(tx)
}

/** Deletes movements above a height from which history has changed. */
export async function withdrawMovements(
  tx: Transaction<Tables>,
  network: NetworkName,
  above: bigint,
): Promise<void> {
  await sql`delete from chain_movement where network = ${network} and height > ${above}`.execute(tx)
}
