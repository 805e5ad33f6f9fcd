import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { recountDeposits } from '../../src/store/books/deposit-counts.ts'
import type { Tables } from '../../src/store/tables.ts'
import { fillBooks } from '../ledger/balance-arms.ts'
import { asset } from '../ledger/made-journals.ts'

/** Of a thousand deposits so many are not done yet, and so many of these have an open mismatch. */
export const openPerThousand = 10
export const mismatchesPerThousand = 2

const perPiece = 100_000

/** Deposits arrived evenly over so many days, and their books were recorded over three times as many. */
type MadeDeposits = { deposits: number; days: number; open: number; withMismatch: number }

/** Of the last 30 days. */
export const monthOf = (deposits: number): MadeDeposits => ({
  deposits,
  days: 30,
  open: Math.floor((deposits * openPerThousand) / 1000),
  withMismatch: Math.floor((deposits * mismatchesPerThousand) / 1000),
})

/** The transactions of a deposit by its number, as scattered as real ones. */
export function madeTransaction(leg: 'pay' | 'forward', number: number): string {
  return `0x${createHash('sha256').update(`made ${leg} ${number}`).digest('hex')}`
}

const txOf = (leg: string) => sql`'0x' || encode(sha256((${`made ${leg} `} || n)::bytea), 'hex')`

/**
 * Keeps deposits as the daemon leaves them, each with the webhook that told of it, its keys, and that its owner may be
 * credited, and books of two transfers for each that were recorded over the last months. Triggers and foreign keys are off
 * for the filling alone.
 */
export async function storeDeposits(
  db: Kysely<Tables>,
  made: MadeDeposits,
  progress: (text: string) => void = () => undefined,
): Promise<void> {
  const { deposits, days } = made
  await fillBooks(db, { transfers: 2 * deposits, deposits, days: 3 * days }, progress)
  for (let from = 2; from <= deposits; from += perPiece) {
    await storePiece(db, { from, to: Math.min(from + perPiece - 1, deposits), ...made })
    progress(`${Math.min(from + perPiece - 1, deposits)} of ${deposits} deposits are stored\n`)
  }
  await sql`select setval(pg_get_serial_sequence('evidence_group', 'id'), ${deposits + 1})`.execute(db)
  await sql`select setval(pg_get_serial_sequence('deposit', 'id'), ${deposits + 1})`.execute(db)
  await sql`select setval(pg_get_serial_sequence('inbox', 'id'), ${deposits + 1})`.execute(db)
  await recountDeposits(db)
  await sql`vacuum analyze evidence_group, deposit, inbox, evidence, mismatch, link_key, credit_safety`.execute(
    db,
  )
}

type Piece = MadeDeposits & { from: number; to: number }

async function storePiece(
  db: Kysely<Tables>,
  { from, to, deposits: all, days, open, withMismatch }: Piece,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`
      insert into evidence_group (id) overriding system value select generate_series(${from}::bigint, ${to}::bigint)`.execute(
      tx,
    )
    await sql`
      insert into deposit (id, group_id, service_id, transfer, state, matrix, network, asset, amount, tx, owner_kind,
        owner_id, settlement_network, settlement_asset, settlement_amount, fee_amount, settlement_tx, deposited_at, webhook_at, api_at, chain_at, final_at, settled_at, reconciled_at, steps_known, steps_reported)
      overriding system value
      select n, n, 'dep_' || n, 'base/made/' || n || '/0', case when is_open then 'settling' else 'reconciled' end,
        '{"deposit":{"webhook":"agrees","api":"agrees","chain":"agrees"},"settlement":{"webhook":"agrees","api":"agrees","chain":"agrees"}}',
        'base', ${asset}, 1000000, ${txOf('pay')}, 'channel', 'channel-' || n % 1000,
        'arbitrum', ${asset}, 999000, 1000, ${txOf('forward')}, at, at + interval '2 seconds',
        at + interval '4 seconds', at + interval '1 second', at + interval '15 minutes',
        case when not is_open then at + interval '20 minutes' end, case when not is_open then at + interval '20 minutes' end, 3, 3
      from generate_series(${from}::bigint, ${to}::bigint) as n, lateral (
        select now() - (${all} - n) * (${`${days} days`}::interval / ${all}) as at,
          n > ${all - open} as is_open
      ) as made`.execute(tx)
    await sql`
      insert into inbox (id, source, source_key, body, received_at, stored_at) overriding system value
      select id, 'webhook', 'made-' || id, '{}', webhook_at, webhook_at from deposit where id between ${from} and ${to}`.execute(
      tx,
    )
    await sql`
      insert into evidence (inbox_id, group_id, observation)
      select id, group_id, jsonb_build_object('serviceId', service_id, 'occurredAt', deposited_at)
      from deposit where id between ${from} and ${to}`.execute(tx)
    await sql`
      insert into link_key (key, group_id)
      select key, group_id from deposit, lateral (values
        ('service/' || service_id), ('in/' || tx || '/made'), ('out/' || settlement_tx)) as made (key)
      where id between ${from} and ${to}`.execute(tx)
    await sql`
      insert into credit_safety (deposit_id, number, action, journal_id, account, asset, amount, height, block_hash, final_at,
        reason)
      select id, 1, 'safe', id, 'liabilities:deposits:channel:' || owner_id, asset, amount, id, tx, final_at, 'final'
      from deposit where id between ${from} and ${to}`.execute(tx)
    await sql`
      insert into mismatch (subject, kind, severity, deposit_id, group_id, network, asset, value, opened_at)
      select 'deposit/' || id, 'settlement_missing', 'severe', id, group_id, network, asset, amount, final_at
      from deposit where id between ${from} and ${to}
        and id > ${all - withMismatch}`.execute(tx)
  })
}
