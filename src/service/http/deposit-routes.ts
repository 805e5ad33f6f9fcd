import { sql } from 'kysely'
import { z } from 'zod'
import { type TxId, toTxId } from '../../core/asset.ts'
import type { DepositRecord } from '../deposits/record.ts'
import { againOf } from '../faults/claim-again.ts'
import { openListing, reportRecords } from '../faults/record-faults.ts'
import type { ServiceDatabase, ServiceDepositRow } from '../tables.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { depositRecord } from './deposit-schema.ts'
import { depositId, noDeposit } from './find-deposit.ts'
import { defineRoute } from './route.ts'
import { idText, listLimitDefault, pageOf, pageQuery, timeText } from './schemas.ts'

const depositsQuery = pageQuery.extend({
  owner: idText.optional(),
  network: z.string().max(64).optional(),
  status: depositRecord.shape.status.optional(),
  since: timeText.optional(),
  until: timeText.optional(),
  updated_since: timeText.optional(),
  transaction: z.string().min(1).max(128).optional(),
})

type DepositsQuery = z.output<typeof depositsQuery>

/** Newest first by creation. A cursor names the last deposit read, so new deposits do not shift later pages. */
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
    const nextCursor = last === null ? null : writeCursor('deposits', last.sequence)
    return { data: listing.report(rows, networks), next_cursor: nextCursor }
  },
})

const retrieveDeposit = defineRoute({
  method: 'get',
  path: '/v1/proxies/deposits/{id}',
  scope: 'read',
  summary: 'Retrieve a deposit',
  origin: 'ours',
  parameters: depositId,
  status: 200,
  answer: depositRecord,
  refusals: ['not_found'],
  run: async ({ db, networks, faults }, { parameters: { id } }) => {
    const isAsked = (record: DepositRecord) => record.id === id
    const rows = await db
      .selectFrom('service.deposit')
      .selectAll()
      .where('id', 'in', [id, againOf(id)])
      .execute()
    const record = rows.flatMap((row) => reportRecords(faults, row, networks)).find(isAsked)
    if (record === undefined) throw noDeposit(id)
    return record
  },
})

export const depositRoutes = [listDeposits, retrieveDeposit]

function selectDeposits(
  db: ServiceDatabase,
  wanted: DepositsQuery,
  limit: number,
): Promise<readonly ServiceDepositRow[]> {
  const before = readCursor('deposits', wanted.cursor)
  const conditions = [
    ...(before === null ? [] : [sql<boolean>`sequence < ${before}`]),
    ...(wanted.owner === undefined ? [] : [sql<boolean>`owner_id = ${wanted.owner}`]),
    ...(wanted.network === undefined ? [] : [sql<boolean>`network = ${wanted.network}`]),
    ...(wanted.status === undefined ? [] : [sql<boolean>`status = ${wanted.status}`]),
    ...timeConditions(wanted),
    ...(wanted.transaction === undefined ? [] : [ofTransaction(toTxId(wanted.transaction))]),
  ]
  return db
    .selectFrom('service.deposit')
    .selectAll()
    .where((build) => build.and(conditions))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

function timeConditions({ since, until, updated_since: updatedSince }: DepositsQuery) {
  return [
    ...(since === undefined ? [] : [sql<boolean>`created_at >= ${new Date(since)}`]),
    ...(until === undefined ? [] : [sql<boolean>`created_at < ${new Date(until)}`]),
    ...(updatedSince === undefined ? [] : [sql<boolean>`updated_at >= ${new Date(updatedSince)}`]),
  ]
}

/** Matches the payment, the forward or the refund of a deposit. */
function ofTransaction(transaction: TxId) {
  return sql<boolean>`
    (transaction = ${transaction} or to_transaction = ${transaction} or refund_transaction = ${transaction})`
}
