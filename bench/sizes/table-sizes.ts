import { sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'

/** `bytes` without those of its indexes; of a table that is partitioned, all partitions together. */
export type TableSize = { table: string; rows: number; bytes: number; indexBytes: number }

const worthTelling = 1

/** As they are on disk; rows as they were counted when it was last analysed. */
export async function readTables(db: Database<Tables>): Promise<TableSize[]> {
  const { rows } = await sql<Record<keyof TableSize, string>>`
    select coalesce(parent.relname, part.relname) as "table", sum(part.reltuples)::bigint::text as rows,
      sum(pg_table_size(part.oid))::text as bytes, sum(pg_indexes_size(part.oid))::text as "indexBytes"
    from pg_class part
      left join pg_inherits on inhrelid = part.oid left join pg_class parent on parent.oid = inhparent
    where part.relnamespace = 'public'::regnamespace and part.relkind = 'r'
    group by 1 order by 1`.execute(db)
  return rows.map(({ table, rows: count, bytes, indexBytes }) => ({
    table,
    rows: Math.max(0, Number(count)),
    bytes: Number(bytes),
    indexBytes: Number(indexBytes),
  }))
}

/** What came to each table, per deposit, the largest first. */
export function perDeposit(
  after: readonly TableSize[],
  before: readonly TableSize[],
  deposits: number,
): TableSize[] {
  const was = new Map(before.map((one) => [one.table, one]))
  return after
    .map(({ table, rows, bytes, indexBytes }) => ({
      table,
      rows: rows / deposits,
      bytes: (bytes - (was.get(table)?.bytes ?? 0)) / deposits,
      indexBytes: (indexBytes - (was.get(table)?.indexBytes ?? 0)) / deposits,
    }))
    .filter((one) => one.bytes + one.indexBytes > worthTelling)
    .toSorted((left, right) => right.bytes + right.indexBytes - left.bytes - left.indexBytes)
}

export function totalOf(tables: readonly TableSize[]): TableSize {
  const sum = (of: (table: TableSize) => number) => tables.reduce((total, table) => total + of(table), 0)
  return {
    table: 'total',
    rows: sum(({ rows }) => rows),
    bytes: sum(({ bytes }) => bytes),
    indexBytes: sum(({ indexBytes }) => indexBytes),
  }
}
