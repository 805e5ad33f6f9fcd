import { sql } from 'kysely'
import { z } from 'zod'
import { recordWriter } from '../deposits/record.ts'
import type { DepositRow, ServiceDatabase } from '../tables.ts'
import { idText, parseRequest } from './parse.ts'
import { type Reply, refusal } from './problem.ts'
import type { Api } from './routes.ts'

const limitDefault = 50
const limitMax = 500

const statuses = ['detected', 'confirmed', 'forwarding', 'settled', 'credited', 'failed'] as const

const depositsQuery = z.strictObject({
  limit: z
    .string()
    .refine((text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= limitMax, {
      error: `must be a whole number from 1 to ${limitMax}`,
    })
    .transform(Number)
    .optional(),
  cursor: z.string().max(100).optional(),
  owner: idText.optional(),
  network: z.string().max(64).optional(),
  status: z.enum(statuses).optional(),
  /** Of either side. */
  transaction: z.string().max(128).optional(),
  updated_since: z.iso.datetime({ offset: true }).optional(),
})

type DepositsQuery = z.output<typeof depositsQuery>

/** Newest first by creation. New deposits never move a page that was begun: a cursor names the last deposit read. */
export async function listDeposits({ db, networks }: Api, _body: unknown, query: unknown): Promise<Reply> {
  const wanted = parseRequest(depositsQuery, query)
  const limit = wanted.limit ?? limitDefault
  const rows = await selectDeposits(db, wanted, limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? writeCursor(last.sequence) : null
  return { status: 200, body: { data: page.map(recordWriter(networks)), next_cursor: nextCursor } }
}

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
