import { type Kysely, sql, type Transaction } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { SavedView, ViewPage } from '../core/saved-view.ts'
import type { Tables } from './tables.ts'

const viewsMax = 50

export async function listViews(db: Kysely<Tables>, page: ViewPage): Promise<SavedView[]> {
  const { rows } = await sql<SavedView>`
    select page, name, query, saved_by as "savedBy" from saved_view where page = ${page} order by name`.execute(
    db,
  )
  return rows
}

/** @throws Fault `usage_bad` if the name is taken, or there are too many */
export async function saveView(
  tx: Transaction<Tables>,
  { page, name, query, savedBy }: SavedView,
): Promise<void> {
  const { length } = await listViews(tx, page)
  if (length >= viewsMax)
    throw new Fault('usage_bad', { problem: `there are ${length} saved views`, fix: 'remove one' })
  const { numAffectedRows } = await sql`
    insert into saved_view (page, name, query, saved_by) values (${page}, ${name}, ${query}, ${savedBy})
    on conflict (page, name) do nothing`.execute(tx)
  if (numAffectedRows === 0n)
    throw new Fault('usage_bad', {
      problem: `there is a view with the name ${name}`,
      fix: 'choose another name',
    })
}

export async function removeView(
  db: Kysely<Tables>,
  { page, name }: Pick<SavedView, 'page' | 'name'>,
): Promise<void> {
  await sql`delete from saved_view where page = ${page} and name = ${name}`.execute(db)
}
