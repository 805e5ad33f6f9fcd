import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import type { ServiceId } from '../../src/core/evidence.ts'
import { statusRank } from '../../src/core/matching/fold.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { ClaimsAndTransfers, Match } from './claims-and-transfers.ts'

const stageRank = { seen: 0, orphaned: 1, final: 2 }

/** Puts the rows into two tables, as a person would make them for one join, vacuumed and with statistics. */
export async function storeForSql(
  db: Kysely<Tables>,
  folder: string,
  { claims, chainTransfers }: ClaimsAndTransfers,
): Promise<void> {
  await sql`create table claim (service_id text, step int, network text, tx text, index text, address text, asset text,
    amount numeric(78, 0), occurred_at timestamptz, received_at timestamptz)`.execute(db)
  await sql`create table transfer (network text, tx text, index text, address text, asset text, amount numeric(78, 0),
    stage int, received_at timestamptz)`.execute(db)
  const reported = claims.map(({ serviceId, status, deposit, occurredAt, receivedAt }) => {
    const { network, tx, index, address, asset, amount } = deposit
    return [serviceId, statusRank[status], network, tx, index, address, asset, amount, occurredAt, receivedAt]
  })
  const seen = chainTransfers.map(({ network, tx, index, to, asset, amount, stage, receivedAt }) => {
    return [network, tx, index, to, asset, amount, stageRank[stage], receivedAt]
  })
  await copyInto(db, join(folder, 'claim.copy'), { table: 'claim', rows: reported })
  await copyInto(db, join(folder, 'transfer.copy'), { table: 'transfer', rows: seen })
  await sql`vacuum analyze claim, transfer`.execute(db)
}

type Rows = { table: string; rows: readonly (readonly (string | number | bigint | Date | null)[])[] }

async function copyInto(db: Kysely<Tables>, path: string, { table, rows }: Rows): Promise<void> {
  const cell = (value: Rows['rows'][number][number]) =>
    value instanceof Date ? value.toISOString() : (value?.toString() ?? '\\N')
  writeFileSync(path, '')
  for (let from = 0; from < rows.length; from += 10_000) {
    const lines = rows.slice(from, from + 10_000).map((row) => `${row.map(cell).join('\t')}\n`)
    writeFileSync(path, lines.join(''), { flag: 'a' })
  }
  await sql`copy ${sql.table(table)} from ${sql.lit(path)}`.execute(db)
}

/**
 * The join: the furthest word of each deposit with the newest reading of each transfer, by transaction and address; of
 * several that fit, the exact one, and of several deposits that claim one transfer, the one that was reported of first.
 */
export async function matchInSql(db: Kysely<Tables>): Promise<void> {
  await sql`
    create table matched as
    with reported as (
      select distinct on (service_id) *, min(received_at) over (partition by service_id) as reported_at
      from claim order by service_id, step desc, occurred_at desc, received_at desc
    ), seen as (
      select distinct on (network, tx, index) * from transfer order by network, tx, index, stage desc, received_at
    ), fitting as (
      select service_id, reported_at, concat_ws('/', network, tx, seen.index) as transfer,
        reported.amount = seen.amount and reported.asset = seen.asset as agrees,
        row_number() over (
          partition by service_id
          order by reported.amount = seen.amount and reported.asset = seen.asset and reported.index = seen.index desc, seen.index
        ) as choice
      from reported join seen using (network, tx, address)
    )
    select distinct on (transfer) service_id, transfer, agrees
    from fitting where choice = 1 order by transfer, agrees desc, reported_at, service_id`.execute(db)
}

export async function readMatched(db: Kysely<Tables>): Promise<Map<ServiceId, Match>> {
  const { rows } = await sql<Match & { service_id: ServiceId }>`select * from matched`.execute(db)
  await sql`drop table matched`.execute(db)
  return new Map(rows.map(({ service_id, transfer, agrees }) => [service_id, { transfer, agrees }]))
}
