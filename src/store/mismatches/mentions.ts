import { type Kysely, sql } from 'kysely'
import { whereSet } from '../database.ts'
import type { Tables } from '../tables.ts'

/** A comment that names a person. */
export type MentionLine = {
  id: bigint
  at: Date
  actor: string
  text: string
  mismatch: bigint
  kind: string
  severity: string
  status: string
}

export type MentionFilter = {
  person: string
  /** The last one of the previous page. */
  before?: bigint | undefined
  limit: number
}

/** The newest first, without withdrawn comments. */
export async function listMentions(
  db: Kysely<Tables>,
  { person, before, limit }: MentionFilter,
): Promise<MentionLine[]> {
  const wanted = [
    sql`e.mentions @> array[lower(${person})]`,
    sql`not exists (select from mismatch_event u where u.undoes = e.id)`,
    ...whereSet(before, (id) => sql`e.id < ${id}`),
  ]
  const { rows } = await sql<MentionLine>`
    with page as materialized (
      select e.id, e.at, e.actor, e.text, e.mismatch_id from mismatch_event e
      where ${sql.join(wanted, sql` and `)} order by e.id desc limit ${limit}
    )
    select page.id, page.at, page.actor, page.text, m.id as mismatch, m.kind, m.severity, m.status
    from page join accounting.mismatches m on m.id = page.mismatch_id order by page.id desc`.execute(db)
  return rows
}
