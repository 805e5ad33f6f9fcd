import type { Kysely, Transaction } from 'kysely'
import { mismatchKinds } from '../../core/mismatch.ts'
import type { DepositClient, DepositPage } from '../../provider/deposit-client.ts'
import type { PageMark } from '../../provider/page-marks.ts'
import { inTransaction } from '../../store/database.ts'
import { clearMismatches, type MismatchChange, openMismatches } from '../../store/mismatches/mismatches.ts'
import { markGone, type RemovedRecord, type ServiceRecord, saveRecords } from '../../store/records.ts'
import type { Tables } from '../../store/tables.ts'

export type ReadDeps = {
  db: Kysely<Tables>
  client: DepositClient
  now: () => Date
  /**
   * Called first in each writing transaction if only one process may read. Throws once another process has taken over.
   */
  keepPlace?: (tx: Transaction<Tables>) => Promise<void>
  /** Called after each write of new records. Reading continues when it resolves. */
  keepPace?: () => Promise<void>
}

/** Result of a reading. */
export type PollReport = {
  pages: number
  /** New or changed records. */
  stored: number
  /** How often records shifted between pages during the reading. */
  drifts: number
  mismatches: MismatchChange[]
}

export const nothingRead = (): PollReport => ({ pages: 0, stored: 0, drifts: 0, mismatches: [] })

/** Reads one page and stores new records. Null if the service no longer accepts the mark. */
export async function readPage(
  deps: ReadDeps,
  place: { mark: PageMark; since: Date | null },
  reading: PollReport,
): Promise<DepositPage | null> {
  const sentAt = deps.now()
  const page = await deps.client.listDeposits(place)
  if (page === null) return null
  await keep(deps, page.records, { sentAt, reading })
  reading.pages++
  return page
}

/**
 * Reads records by id. A record that the service no longer has, and that was missed before, is a `record_disappeared`.
 * @throws the first failure, after the other records are read
 */
export async function readAlone(deps: ReadDeps, ids: readonly string[], reading: PollReport): Promise<void> {
  const faults: unknown[] = []
  for (const id of ids) await readOne(deps, id, reading).catch((fault: unknown) => faults.push(fault))
  if (faults.length > 0) throw faults[0]
}

async function readOne(deps: ReadDeps, id: string, reading: PollReport): Promise<void> {
  const sentAt = deps.now()
  const record = await deps.client.readDeposit(id)
  if (record === null) await declareGone(deps, [id], { sentAt, reading })
  else await keep(deps, [record], { sentAt, reading })
}

/** `sentAt` is the time of the request that did not return them. */
export async function declareGone(
  { db, keepPlace }: ReadDeps,
  ids: readonly string[],
  { sentAt, reading }: RecordReadContext,
): Promise<void> {
  const changes = await inTransaction(db, async (tx) => {
    await keepPlace?.(tx)
    return openMismatches(tx, (await markGone(tx, ids, sentAt)).map(disappearance))
  })
  reading.mismatches.push(...changes)
}

type RecordReadContext = { sentAt: Date; reading: PollReport }

async function keep(
  { db, now, keepPlace, keepPace }: ReadDeps,
  records: readonly ServiceRecord[],
  { sentAt, reading }: RecordReadContext,
): Promise<void> {
  const { stored, cleared } = await inTransaction(db, async (tx) => {
    await keepPlace?.(tx)
    const saved = await saveRecords(tx, records, { sentAt, receivedAt: now() })
    return { ...saved, cleared: await clearMismatches(tx, kind, saved.back.map(subjectOf)) }
  })
  reading.stored += stored
  reading.mismatches.push(...cleared)
  if (stored > 0) await keepPace?.()
}

const kind = 'record_disappeared'

function subjectOf(id: string): string {
  return `record/${id}`
}

/** Belongs to no group: the evidence of the deposit stands, and a new decision does not clear this mismatch. */
function disappearance({ id, depositId, network, asset, amount, state }: RemovedRecord) {
  return {
    subject: subjectOf(id),
    kind,
    severity: mismatchKinds[kind].severity,
    depositId,
    groupId: null,
    network,
    asset,
    value: amount === null ? null : BigInt(amount),
    loss: null,
    detail: { record: id, ...(state !== null && { state }) },
  }
}
