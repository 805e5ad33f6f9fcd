import { type Kysely, sql } from 'kysely'
import type { AccountLabel } from '../../core/chart.ts'
import type { Tables } from '../tables.ts'

/** Makes the codes and names of accounts those of the settings, as the owner of the database. Safe to run beside itself. */
export async function keepAccountLabels(db: Kysely<Tables>, labels: readonly AccountLabel[]): Promise<void> {
  const [patterns, codes, names] = [
    labels.map(({ pattern }) => pattern),
    labels.map(({ code }) => code),
    labels.map(({ name }) => name),
  ]
  await db.transaction().execute(async (tx) => {
    await sql`lock table account_label in share row exclusive mode`.execute(tx)
    await sql`delete from account_label`.execute(tx)
    await sql`
      insert into account_label (place, pattern, code, name)
      select place, pattern, code, name
      from unnest(${patterns}::text[], ${codes}::text[], ${names}::text[])
        with ordinality as label (pattern, code, name, place)`.execute(tx)
  })
}
