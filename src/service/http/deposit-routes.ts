import { sql } from 'kysely'
import { z } from 'zod'
import { recordWriter } from '../deposits/record.ts'
import { openListing } from '../faults/record-faults.ts'
import type { DepositRow, ServiceDatabase } from '../tables.ts'
import { depositRecord } from './deposit-schema.ts'
import { refusal } from './problem.ts'
import { defineRoute } from './route.ts'
import { idText, listLimitDefault, pageOf, pageQuery } from './schemas.ts'

const depositsQuery = pageQuery.extend({
  owner: idText.optional(),
  network: z.string().max(64).optional(),
  status: depositRecord.shape.status.optional(),
  /** Of either side. */
  transaction: z.string().max(128).optional(),
  updated_since: z.iso.datetime({ offset: true }).optional(),
})

type DepositsQuery = z.output<typeof depositsQuery>

/** Newest first by creation. New deposits never move a page that was begun: a cursor names the last deposit read. */
const listDeposits = defineRoute({
  method: 'get',
  path: '/v1/proxies/deposits',
  scope: 'read',
  summary: 'List deposits, the newest first',
  origin: 'page',
  query: depositsQuery,
  status: 200,
  answer: pageOf(depositRecord),
  refusals: ['cursor_invalid'],
  run: async ({ db, networks, faults }, { query }) => {
    const listing = openListing(faults, query.limit ?? listLimitDefault)
    const { rows, last } = listing.cut(await selectDeposits(db, query, listing.limit + 1))
    const nextCursor = last === null ? null : writeCursor(last.sequence)
    return { data: listing.tell(rows, recordWriter(networks)), next_cursor: nextCursor }
  },
})

export const depositRoutes = [listDeposits]

function selectDeposits(
  db: ServiceDatabase,
  wanted: DepositsQuery,
  limit: number,
): Promise<readonly DepositRow[]> {
  const { cursor, owner, network, status, transaction, updated_since: since } = wanted
  const conditions = [
    ...(cursor === undefined ? [] : [sql<boolean>`sequence < ${readCursor(cursor)}`]),
    ...(owner === undefined ? [] : [sql<boolean>`owner_id = ${owner}`]),
    ...(network === undefined ? [] : [sql<boolean>`network = ${network}`]),
    ...(status === undefined ? [] : [sql<boolean>`status = ${status}`]),
    ...(transaction === undefined ? [] : [sql<boolean>`${transaction} in (transaction, to_transaction)`]),
    ...(since === undefined ? [] : [sql<boolean>`updated_at >= ${since}::timestamptz`]),
  ]
  return db
    .selectFrom('service.deposit')
    .selectAll()
    .where((build) => build.and(conditions))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

/** Opaque to callers, so that it may change what it holds. */
function writeCursor(sequence: bigint): string {
  return Buffer.from(`after:${sequence}`).toString('base64url')
}

function readCursor(cursor: string): bigint {
  const [, digits] = /^after:(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (digits === undefined) throw refusal('cursor_invalid', 'send a next_cursor as it was answered, or none')
  return BigInt(digits)
}
