import { type Kysely, sql } from 'kysely'
import { beginning, type PollPosition } from '../../src/jobs/poll/position.ts'
import type { Tables } from '../../src/store/tables.ts'
import { at } from './evidence.ts'
import type { ListedRecord } from './listing.ts'

/** So many records of confirmed deposits, one made in each minute of the made-up world. */
export function listedRecords(count: number): ListedRecord[] {
  return Array.from({ length: count }, (_, place) => ({
    id: `dep_${place}`,
    created_at: at(place).toISOString(),
    status: 'confirmed',
  }))
}

/** What is told to have disappeared now. */
export async function goneSubjects(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ subject: string }>`
    select subject from mismatch where kind = 'record_disappeared' and cleared_at is null order by 1`.execute(
    db,
  )
  return rows.map(({ subject }) => subject)
}

/** How far the poll has come. */
export async function savedPosition(db: Kysely<Tables>): Promise<PollPosition> {
  const { cursor } = await db.selectFrom('stream').select('cursor').executeTakeFirstOrThrow()
  return (cursor as PollPosition | null) ?? beginning
}
