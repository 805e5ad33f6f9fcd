import { type Kysely, sql } from 'kysely'
import type { AccountLabel } from '../../core/chart.ts'
import type { Tables } from '../tables.ts'

/** Replaces the codes and names of accounts by those of the settings. Safe to run concurrently. */
export async function keepAccountLabels(db: Kysely<Tables>, labels: readonly AccountLabel[]): Promise<void> {
  const [patterns, codes, names] = [
    labels.map(({ pattern }) => pattern),
    labels.map(({ code }) => code),
    labels.map(({ name }) => name),
  ]
  await sql`select keep_account_labels(${patterns}::text[], ${codes}::text[], ${names}::text[])`.execute(db)
}
