import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Address, AssetKey, NetworkName, TxId } from '../../core/asset.ts'
import type { BalanceMovement } from '../../core/balance-proof.ts'
import { decodeObservation, type ObservedChainTransfer, transferRef } from '../../core/evidence.ts'
import { lossOf } from '../../core/mismatch.ts'
import { asTable } from '../database.ts'
import { appendObservations } from '../inbox.ts'
import { type HeldMismatch, type MismatchChange, syncMismatches } from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'

/** Skips those stored before at the same stage in the same block. */
export async function appendChainTransfers(
  tx: Transaction<Tables>,
  chainTransfers: readonly ObservedChainTransfer[],
): Promise<number> {
  const keyed = chainTransfers.map((one) => [keyOf(one), one] as const)
  const added = await appendObservations(tx, 'chain', keyed)
  const fresh = added.map(({ inboxId, observation }) => ({
    ...observation,
    inboxId,
    transfer: transferRef(observation),
  }))
  await sql`
    insert into chain_transfer
      (inbox_id, network, transfer, stage, height, block_hash, role, address, asset, amount)
    select * from ${asTable('fresh', fresh, transferColumns)}`.execute(tx)
  return fresh.length
}

const transferColumns =
  'inboxId bigint, network text, transfer text, stage text, height bigint, blockHash text, role text, to text, asset text, amount numeric'

/**
 * Seen early in blocks that are final by now, and not among the final transfers. One that was withdrawn and seen again
 * can vanish again.
 */
export function vanishedChainTransfers(
  tx: Transaction<Tables>,
  { network, above, upTo }: { network: string; above: bigint; upTo: bigint },
): Promise<ObservedChainTransfer[]> {
  return readChainTransfers(
    tx,
    sql`
    s.network = ${network} and s.stage = 'seen' and s.height > ${above} and s.height <= ${upTo}
    and not exists (
      select 1 from chain_transfer other where other.transfer = s.transfer and (
        other.stage = 'orphaned' and other.inbox_id > s.inbox_id
        or other.stage = 'final' and not exists (
          select 1 from chain_transfer gone
          where gone.transfer = other.transfer and gone.stage = 'orphaned' and gone.inbox_id > other.inbox_id
        )
      )
    )`,
  )
}

/** For history that changed above a height. */
export function rewoundChainTransfers(
  tx: Transaction<Tables>,
  network: string,
  above: bigint,
): Promise<ObservedChainTransfer[]> {
  return readChainTransfers(
    tx,
    sql`
    s.network = ${network} and s.stage = 'final' and s.height > ${above}
    and not exists (
      select 1 from chain_transfer other
      where other.transfer = s.transfer and other.stage = 'orphaned' and other.inbox_id > s.inbox_id
    )`,
  )
}

/** 0 if there is none. */
export async function newestInboxId(db: Kysely<Tables>): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`select coalesce(max(id), 0) as id from inbox`.execute(db)
  return rows[0]?.id ?? 0n
}

export function chainTransfersAfter(
  db: Kysely<Tables>,
  {
    network,
    after,
    from,
    to,
    limit,
  }: { network: string; after: bigint; from: bigint; to: bigint; limit: number },
): Promise<ObservedChainTransfer[]> {
  return readChainTransfers(
    db,
    sql`
    s.inbox_id in (
      select inbox_id from chain_transfer
      where network = ${network} and inbox_id > ${after} and height between ${from} and ${to}
      order by inbox_id limit ${limit}
    )`,
  )
}

async function readChainTransfers(
  db: Kysely<Tables>,
  condition: RawBuilder<unknown>,
): Promise<ObservedChainTransfer[]> {
  const { rows } = await sql<{ body: Buffer }>`
    select i.body from chain_transfer s join inbox i on i.id = s.inbox_id
    where ${condition} order by i.id`.execute(db)
  return rows
    .map(({ body }) => decodeObservation(body.toString()))
    .filter((one) => one.kind === 'chain_transfer')
}

function keyOf({ role, stage, epoch, blockHash, ...transfer }: ObservedChainTransfer): string {
  return `${transferRef(transfer)}/${role}/${stage}/${epoch}/${blockHash}`
}

/** Skips those already stored for the same block. */
export async function appendMovements(
  tx: Transaction<Tables>,
  movements: readonly BalanceMovement[],
): Promise<void> {
  if (movements.length === 0) return
  const rows = movements.map((one) => ({ ...one, recipients: one.recipients.join(' ') }))
  await sql`
    insert into chain_movement (network, tx, index, asset, address, change, height, block_hash, outsiders)
    select network, tx, index, asset, address, change, height, "blockHash", outsiders_of(network, address, string_to_array(recipients, ' '))
    from ${asTable('movement', rows, movementColumns)}
    on conflict do nothing`.execute(tx)
}

const movementColumns =
  'network text, tx text, index text, asset text, address text, change numeric, height bigint, blockHash text, recipients text'

/**
 * What left a deposit address for an address that is neither of the service nor of the address book, unless it only
 * went back to where it came from.
 */
export async function syncOutflows(tx: Transaction<Tables>, network: NetworkName): Promise<MismatchChange[]> {
  const { rows } = await sql<OutflowRow>`
    with sender as materialized (select name from active_sender),
    outflow as (
      select m.tx, m.index, m.asset, m.address, -m.change as amount, m.height, recipient,
        sum(-m.change) over (partition by m.address, m.asset, recipient order by m.height) as until_then
      from chain_movement m cross join unnest(m.outsiders) as recipient
      where m.network = ${network} and m.outsiders is not null
        and not exists (select from sender where name = m.network || '/' || recipient)
        and not exists (select from address_book b where (b.network, b.address) = (m.network, recipient))
        and exists (select from address_book b where (b.network, b.address, b.role) = (m.network, m.address, 'deposit'))
    )
    select tx, index, asset, address, outflow.amount::text, string_agg(recipient, ', ' order by recipient) as recipient
    from outflow cross join lateral (
      select sum(paid.amount) as total from (
        select distinct on (s.transfer) s.amount from chain_transfer s join inbox on inbox.id = s.inbox_id
        where (s.network, s.address, s.asset, s.stage, s.role) = (${network}, outflow.address, outflow.asset, 'final', 'deposit')
          and s.height <= outflow.height and convert_from(inbox.body, 'UTF8')::jsonb ->> 'from' = recipient
      ) as paid
    ) as received
    where until_then > coalesce(received.total, 0)
    group by tx, index, asset, address, outflow.amount`.execute(tx)
  return syncMismatches(tx, sql`kind = ${outflow} and network = ${network}`, rows.map(toMismatch(network)))
}

const outflow = 'unknown_outflow'

type OutflowRow = {
  tx: TxId
  index: string
  asset: AssetKey
  address: Address
  amount: string
  recipient: string
}

function toMismatch(network: NetworkName): (row: OutflowRow) => HeldMismatch {
  return ({ index, amount, ...detail }) => ({
    subject: `outflow/${network}/${detail.tx}/${index}`,
    kind: outflow,
    network,
    asset: detail.asset,
    value: BigInt(amount),
    loss: lossOf(detail.asset, BigInt(amount)),
    detail: { ...detail, amount },
  })
}

/** For history that changed above a height. */
export async function withdrawMovements(
  tx: Transaction<Tables>,
  network: NetworkName,
  above: bigint,
): Promise<void> {
  await sql`delete from chain_movement where network = ${network} and height > ${above}`.execute(tx)
}
