import { sql } from 'kysely'
import { z } from 'zod'
import { type Address, type TxId, toTxId } from '../../core/asset.ts'
import { listLimitDefault, pageOf, pageQuery, readCursor, writeCursor } from '../../http/pages.ts'
import { timeText } from '../../http/read-request.ts'
import { refundDeposit, releaseDeposit } from '../deposits/deposit-actions.ts'
import { recordWriter } from '../deposits/record.ts'
import { againOf, openListing, reportRecords } from '../faults/record-faults.ts'
import type { DepositStatus, ServiceDatabase, ServiceDepositRow } from '../tables.ts'
import { bySequence } from './pages.ts'
import { notFound, refusal } from './problem.ts'
import { readNetwork, readRecipient, refuseOwnAddress } from './request-values.ts'
import { type Api, defineRoute, ofPage, ours } from './route.ts'
import { depositRecord, idText } from './schemas.ts'

const depositId = z.strictObject({ id: z.string().max(64) })

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

/** Newest first. New deposits do not shift later pages. */
const listDeposits = defineRoute({
  method: 'get',
  path: '/v1/proxies/deposits',
  scope: 'read',
  summary: 'List deposits, the newest first',
  description: ofPage,
  query: depositsQuery,
  status: 200,
  answer: pageOf(depositRecord),
  refusals: ['cursor_invalid'],
  run: async ({ db, networks, faults }, { query }) => {
    const listing = openListing(faults, query.limit ?? listLimitDefault)
    const { rows, last } = listing.cut(await selectDeposits(db, query, listing.limit + 1))
    const nextCursor = last === null ? null : writeCursor('deposits', [`${last.sequence}`])
    return { data: listing.report(rows, networks), next_cursor: nextCursor }
  },
})

const retrieveDeposit = defineRoute({
  method: 'get',
  path: '/v1/proxies/deposits/{id}',
  scope: 'read',
  summary: 'Retrieve a deposit',
  description: ours,
  parameters: depositId,
  status: 200,
  answer: depositRecord,
  refusals: ['not_found'],
  run: async ({ db, networks, faults }, { parameters: { id } }) => {
    const rows = await db
      .selectFrom('service.deposit')
      .selectAll()
      .where('id', 'in', [id, againOf(id)])
      .execute()
    const records = rows.flatMap((row) => reportRecords(faults, row, networks))
    const record = records.find((reported) => reported.id === id)
    if (record === undefined) throw notFound('deposit', id)
    return record
  },
})

function selectDeposits(
  db: ServiceDatabase,
  query: DepositsQuery,
  limit: number,
): Promise<readonly ServiceDepositRow[]> {
  const { owner, network, status, since, until, updated_since: updatedSince, transaction } = query
  const before = readCursor(bySequence('deposits'), query.cursor)
  const conditions = [
    before !== null && sql<boolean>`sequence < ${before}`,
    owner !== undefined && sql<boolean>`owner_id = ${owner}`,
    network !== undefined && sql<boolean>`network = ${network}`,
    status !== undefined && sql<boolean>`status = ${status}`,
    since !== undefined && sql<boolean>`created_at >= ${new Date(since)}`,
    until !== undefined && sql<boolean>`created_at < ${new Date(until)}`,
    updatedSince !== undefined && sql<boolean>`updated_at >= ${new Date(updatedSince)}`,
    transaction !== undefined && ofTransaction(toTxId(transaction)),
  ].filter((condition) => condition !== false)
  return db
    .selectFrom('service.deposit')
    .selectAll()
    .where((build) => build.and(conditions))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

function ofTransaction(transaction: TxId) {
  return sql<boolean>`
    (transaction = ${transaction} or to_transaction = ${transaction} or refund_transaction = ${transaction})`
}

const release = defineRoute({
  method: 'post',
  path: '/v1/proxies/deposits/{id}/release',
  scope: 'write',
  summary: 'Release a held deposit, regardless of its policy',
  description: ours,
  parameters: depositId,
  status: 200,
  answer: depositRecord,
  refusals: ['not_found', 'state_conflict'],
  run: async ({ db, deposits, networks }, { parameters: { id } }) => {
    const outcome = await releaseDeposit({ db, deposits }, id)
    if (outcome.kind === 'not_found') throw notFound('deposit', id)
    if (outcome.kind === 'wrong_state') throw wrongState(outcome.status, 'only held deposits can be released')
    return recordWriter(networks)(outcome.deposit)
  },
})

const refundRequest = z
  .strictObject({ address: z.string().min(1).max(128).optional() })
  .meta({ id: 'RefundRequest', description: 'Without an address, the refund goes to the sender.' })

const refund = defineRoute({
  method: 'post',
  path: '/v1/proxies/deposits/{id}/refund',
  scope: 'write',
  summary: 'Refund a deposit, in full and on its own network',
  description: ours,
  parameters: depositId,
  body: refundRequest.optional(),
  status: 200,
  answer: depositRecord,
  refusals: ['not_found', 'network_unknown', 'address_invalid', 'state_conflict', 'sender_unknown'],
  run: async (api, { parameters: { id }, body }) => {
    const to = body?.address === undefined ? null : await readReceiver(api, id, body.address)
    const outcome = await refundDeposit({ db: api.db, deposits: api.deposits }, { id, to })
    if (outcome.kind === 'not_found') throw notFound('deposit', id)
    if (outcome.kind === 'wrong_state') {
      throw wrongState(outcome.status, 'only confirmed or held deposits can be refunded')
    }
    if (outcome.kind === 'sender_unknown') {
      throw refusal('sender_unknown', 'the chain does not show the sender; state a refund address')
    }
    return recordWriter(api.networks)(outcome.deposit)
  },
})

export const depositRoutes = [listDeposits, retrieveDeposit, release, refund]

/** Rejects addresses of this service. */
async function readReceiver({ db, networks, owners }: Api, id: string, text: string): Promise<Address> {
  const deposit = await db
    .selectFrom('service.deposit')
    .select('network')
    .where('id', '=', id)
    .executeTakeFirst()
  if (deposit === undefined) throw notFound('deposit', id)
  const stated = { text, pointer: '/address' }
  const address = readRecipient(readNetwork(networks, { text: deposit.network, pointer: '' }), stated)
  if (await owners.isOwnAddress(address)) throw refuseOwnAddress(stated)
  return address
}

function wrongState(status: DepositStatus, rule: string) {
  return refusal('state_conflict', `the deposit is ${status}; ${rule}`)
}
