import { sql, type Transaction } from 'kysely'
import type { Address, NetworkName, TxId } from '../../core/asset.ts'
import type { Owner, ServiceId } from '../../core/evidence.ts'
import type { CandidatePair, OpenDeposit, UnnamedTransfer } from '../../core/matching/propose.ts'
import type { Tables } from '../tables.ts'

export type FoundPair = CandidatePair & {
  mismatchId: bigint
  depositId: bigint | null
  groups: readonly bigint[]
}

export type PairSelection = { mismatchIds: readonly bigint[] } | { serviceIds: readonly string[] }

/** Per chain transfer or deposit, the nearest by amount. */
const pairsMax = 20

/** In one statement. Excludes pairs within one group, which its keys decide, and pairs that were rejected before. */
export async function findPairs(tx: Transaction<Tables>, wanted: PairSelection): Promise<FoundPair[]> {
  const mismatchIds = 'mismatchIds' in wanted ? wanted.mismatchIds : null
  const serviceIds = 'serviceIds' in wanted ? wanted.serviceIds : null
  const { rows } = await sql<PairRow>`
    with near as (
      select *, row_number() over (
        partition by case when ${mismatchIds}::bigint[] is null then open_id else mismatch_id end
        order by difference, mismatch_id, open_id) as place
      from possible_match
      where (${mismatchIds}::bigint[] is null or mismatch_id = any(${mismatchIds}::bigint[]))
        and (${serviceIds}::text[] is null or service_id = any(${serviceIds}::text[]))
    )
    select near.mismatch_id, near.deposit_id, near.group_id, near.role, near.network, near.asset, near.amount::text as amount,
      near.address, near.open_network, near.open_address, near.open_asset, near.open_amount::text as open_amount,
      near.open_tx, seen.tx, seen.index, seen."from", seen.at, near.open_group_id, near.service_id,
      d.owner_kind, d.owner_id, d.final_at, d.network as paid_network, d.asset as paid_asset, d.amount::text as paid_amount, open.since
    from near join deposit d on d.id = near.open_id
      cross join lateral (${seenTransfer}) seen
      cross join lateral (${openSince}) open
    where near.place <= ${pairsMax} and abs(extract(epoch from seen.at - open.since)) <= ${reachSeconds}
    order by near.mismatch_id, near.open_id`.execute(tx)
  return rows.map(pairOf)
}

/** From its newest final observation. */
const seenTransfer = sql`
  select e.observation ->> 'tx' as tx, e.observation ->> 'index' as index, e.observation ->> 'from' as "from",
    (e.observation ->> 'blockAt')::timestamptz as at
  from evidence e
  where e.group_id = near.group_id and e.observation ->> 'kind' = 'chain_transfer'
    and e.observation ->> 'role' = near.role and e.observation ->> 'stage' = 'final'
    and concat_ws('/', e.observation ->> 'network', e.observation ->> 'tx', e.observation ->> 'index') = near.transfer
  order by (e.observation ->> 'epoch')::int desc, e.observation ->> 'blockHash' limit 1`

/** For a delivery, the time of the payment; for a payment, the earliest that the service states. */
const openSince = sql`
  select case near.role when 'recipient' then d.deposited_at else (
    select min((e.observation ->> 'occurredAt')::timestamptz) from evidence e
    where e.group_id = d.group_id and e.observation ->> 'serviceId' = d.service_id
  ) end as since`

const reachSeconds = 7 * 86_400

type PairRow = {
  mismatch_id: bigint
  deposit_id: bigint | null
  group_id: bigint
  open_group_id: bigint
  amount: string
  address: Address
  open_network: NetworkName
  open_address: Address
  open_asset: OpenDeposit['asset']
  open_amount: string | null
  open_tx: TxId | null
  service_id: ServiceId
  owner_kind: Owner['kind'] | null
  owner_id: string | null
  since: Date
  final_at: Date | null
  paid_network: NetworkName
  paid_asset: OpenDeposit['paid']['asset']
  paid_amount: string
} & Pick<UnnamedTransfer, 'role' | 'network' | 'tx' | 'index' | 'asset' | 'from' | 'at'>

function pairOf(row: PairRow): FoundPair {
  const { role, network, tx, index, asset, from, at } = row
  const owner =
    row.owner_kind === null || row.owner_id === null ? null : { kind: row.owner_kind, id: row.owner_id }
  return {
    mismatchId: row.mismatch_id,
    depositId: row.deposit_id,
    groups: [row.group_id, row.open_group_id],
    transfer: { role, network, tx, index, asset, from, at, to: row.address, amount: amountOf(row.amount) },
    deposit: {
      serviceId: row.service_id,
      owner,
      network: row.open_network,
      address: row.open_address,
      asset: row.open_asset,
      amount: row.open_amount === null ? null : amountOf(row.open_amount),
      tx: row.open_tx,
      since: row.since,
      finalAt: row.final_at,
      paid: { network: row.paid_network, asset: row.paid_asset, amount: amountOf(row.paid_amount) },
    },
  }
}

function amountOf(text: string): UnnamedTransfer['amount'] {
  return BigInt(text) as UnnamedTransfer['amount']
}
