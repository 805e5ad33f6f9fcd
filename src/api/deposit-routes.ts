import { z } from 'zod'
import { toTxId } from '../core/asset.ts'
import { isFault } from '../core/errors.ts'
import { depositStates } from '../core/judging/reconcile.ts'
import { numberKey, pageQuery, readPageOf } from '../http/pages.ts'
import { timeText } from '../http/read-request.ts'
import { type Filter, isGroupSeen, reportDeposits } from '../store/books/list-deposits.ts'
import { type DepositReport, showNumberedDeposit, versionOfDeposit } from '../store/books/show-deposits.ts'
import { listMismatches } from '../store/mismatches/show-mismatches.ts'
import { depositDocument, isDepositSeen, journalDocuments, mismatchDocument } from './deposit-documents.ts'
import { notFound, refusal } from './problem.ts'
import { defineRoute, type ReadApi } from './route.ts'
import {
  listedDeposit,
  numberedPath,
  readPageSchema,
  shownDeposit,
  waitMsIn,
  waitText,
  wordText,
} from './schemas.ts'

const state = z.enum(depositStates)

const depositsQuery = pageQuery.extend({
  service: wordText.optional(),
  service_id: wordText.describe("The service's id of the deposit.").optional(),
  tx: wordText.describe('Transaction of the payment or of the delivery.').optional(),
  address: wordText.describe('Deposit address that was paid.').optional(),
  owner: wordText.describe('Id of a channel or StableWallet.').optional(),
  state: state.describe('By default all except ignored.').optional(),
  network: wordText.optional(),
  since: timeText.describe('Paid, or first reported, at this time or later.').optional(),
  until: timeText.describe('Paid, or first reported, before this time.').optional(),
})

export type DepositListQuery = z.output<typeof depositsQuery>

/** EVM addresses compare without regard to case. */
function addressText(text: string): string {
  return /^0x[0-9a-f]{40}$/i.test(text) ? text.toLowerCase() : text
}

function wantedBy(
  { token: { services, owners } }: ReadApi,
  { service_id: serviceId, tx, address, since, until, ...filter }: DepositListQuery,
): Omit<Filter, 'limit'> {
  return {
    ...filter,
    serviceId,
    tx: tx === undefined ? undefined : toTxId(tx),
    address: address === undefined ? undefined : addressText(address),
    from: timeOf(since),
    to: timeOf(until),
    services,
    owners,
  }
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

const paging = {
  list: 'deposits',
  key: numberKey,
  keyOf: ({ id }: z.output<typeof listedDeposit>) => [id],
}

/** New deposits do not shift later pages. */
const listRoute = defineRoute({
  method: 'get',
  path: '/v1/deposits',
  scope: 'read_deposits',
  summary: 'List deposits, the newest first',
  description: 'By any of the parameters. New deposits do not shift later pages.',
  query: depositsQuery,
  status: 200,
  answer: readPageSchema(listedDeposit),
  refusals: ['cursor_invalid'],
  run: async (api, { query: { limit, cursor, ...query } }) => {
    const wanted = wantedBy(api, query)
    const { page, next_cursor } = await readPageOf(paging, { limit, cursor }, async (range) => {
      const before = range.after ?? undefined
      const rows = await reportDeposits(api.db, { ...wanted, limit: range.limit, before })
      return rows.map((row) => depositDocument(row, api))
    })
    return { data: page, next_cursor, as_of: api.asOf.toISOString() }
  },
})

const waitQuery = z.strictObject({
  wait: waitText
    .describe(
      'Answer when the deposit differs from `If-None-Match`, or else changes; at the latest after this time.',
    )
    .optional(),
  state: state.describe('With `wait`: answer when this state is reached.').optional(),
  credit: z.literal('safe').describe('With `wait`: answer when the owner may be credited.').optional(),
})

export type WaitQuery = z.output<typeof waitQuery>

const showRoute = defineRoute({
  method: 'get',
  path: '/v1/deposits/{id}',
  scope: 'read_deposits',
  summary: 'Show a deposit',
  description:
    'Both legs, the matrix of the sources, mismatches, journals and evidence. A deposit that another one absorbed is shown as that one. With `wait`, the answer waits for a change.',
  parameters: numberedPath,
  query: waitQuery,
  status: 200,
  answer: shownDeposit,
  refusals: ['not_found'],
  run: async (api, { parameters: { id }, query: { wait, ...query } }) => {
    const before = wait === undefined ? null : await versionOfDeposit(api.db, BigInt(id))
    const shown = await showDeposit(api, BigInt(id))
    const isWanted = wantOf(query)
    const isNews =
      isWanted?.({ state: shown.state, isSafe: shown.credit.safe }) ?? (!api.knows(shown) && api.hasKnown)
    if (before === null || wait === undefined || isNews) return shown
    await untilNews(api, {
      id: BigInt(id),
      waitMs: waitMsIn(wait),
      before: before.version,
      isWanted,
    })
    return showDeposit({ ...api, asOf: new Date() }, BigInt(id))
  },
})

type Standing = { state: string; isSafe: boolean }

/** Null if any change is. */
function wantOf({ state: wanted, credit }: Omit<WaitQuery, 'wait'>): ((now: Standing) => boolean) | null {
  if (wanted === undefined && credit === undefined) return null
  return (now) => (wanted === undefined || now.state === wanted) && (credit === undefined || now.isSafe)
}

type AwaitedNews = { id: bigint; waitMs: number; before: string; isWanted: ReturnType<typeof wantOf> }

async function untilNews(api: ReadApi, { id, waitMs, before, isWanted }: AwaitedNews): Promise<void> {
  using turn = api.wait()
  for (const until = Date.now() + waitMs; Date.now() < until; ) {
    if (!(await turn.pause())) return
    const now = await versionOfDeposit(api.db, id)
    if (now === null || (isWanted?.(now) ?? now.version !== before)) return
  }
}

/** Rows of evidence that are shown. */
const timelineMax = 500
const mismatchesMax = 100

async function showDeposit(api: ReadApi, id: bigint): Promise<z.output<typeof shownDeposit>> {
  return api.read(async (tx) => {
    const shown = await showNumberedDeposit(tx, id, timelineMax + 1)
    if (shown === null || !isDepositSeen(shown, api)) throw notFound('deposit', id)
    const { id: deposit, groupId, matrix, evidence } = shown
    const mismatches = await listMismatches(tx, {
      deposit,
      also: 'all',
      isNewestFirst: true,
      limit: mismatchesMax,
    })
    const isWhole = await isGroupSeen(tx, groupId, api.token)
    const timeline = isWhole ? evidence.slice(0, timelineMax) : []
    return {
      ...depositDocument(shown, api),
      matrix,
      mismatches: mismatches.map((line) => mismatchDocument(line, api)),
      journals: journalDocuments(shown, api),
      timeline: timeline.map(({ source, what, received_at }) => ({
        at: received_at.toISOString(),
        source,
        says: what,
      })),
      timeline_complete: isWhole && evidence.length <= timelineMax,
      as_of: api.asOf.toISOString(),
    }
  })
}

const evidenceRoute = defineRoute({
  method: 'get',
  path: '/v1/deposits/{id}/evidence',
  scope: 'read_deposits',
  summary: 'Make the evidence bundle of a deposit',
  description:
    'The file that `bin/depositd deposits evidence` writes, which `bin/depositd evidence verify` verifies without the database. It is entered in the audit log.',
  parameters: numberedPath,
  status: 200,
  answer: z.record(z.string(), z.unknown()).meta({ id: 'EvidenceBundle' }),
  refusals: ['not_found', 'token_limited', 'evidence_unavailable'],
  run: async (api, { parameters: { id } }) => {
    const shown = await api.read((tx) => showNumberedDeposit(tx, BigInt(id), 0))
    if (shown === null || !isDepositSeen(shown, api)) throw notFound('deposit', id)
    await refuseShared(api, shown)
    const made = await api.bundle(shown.id).catch(explainBundle)
    if (made === null) throw notFound('deposit', id)
    // The group may have grown meanwhile; it never shrinks.
    await refuseShared(api, shown)
    await api.bundleTaken(made.id, api.token)
    // The bytes of the bundle are what its digest is of.
    return made.text as unknown as Record<string, unknown>
  },
})

/** @throws Fault `request_refused` */
async function refuseShared(
  { db, token }: ReadApi,
  { groupId }: Pick<DepositReport, 'groupId'>,
): Promise<void> {
  if (await isGroupSeen(db, groupId, token)) return
  throw refusal('token_limited', 'its evidence is shared with a deposit that the token may not see')
}

function explainBundle(error: unknown): never {
  if (!isFault(error, 'usage_bad')) throw error
  throw refusal('evidence_unavailable', `${error.details.problem}; ${error.details.fix}`)
}

export const depositRoutes = [listRoute, showRoute, evidenceRoute]
