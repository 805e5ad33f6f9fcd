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
  /** Comes first in whatever writes, where only one may read at a time: throws once that is another. */
  keepPlace?: (tx: Transaction<Tables>) => Promise<void>
  /** Comes after whatever brought something new: nothing else is read until it is done. */
  keepPace?: () => Promise<void>
}

/** What a reading came to. */
export type PollReport = {
  pages: number
  /** Records that were new or had changed. */
  stored: number
  /** Times that records shifted between pages while they were read. */
  drifts: number
  mismatches: MismatchChange[]
}

export const nothingRead = (): PollReport => ({ pages: 0, stored: 0, drifts: 0, mismatches: [] })

/** Reads one page and keeps what is new. Null where the service does not know the mark any more. */
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
 * Reads records alone. One that the service has no more, and that was missed before, is `record_disappeared`.
 * @throws what the first one that cannot be read throws, once the others are read
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

/** `sentAt` is when the request was sent that did not bring them. */
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

/** Of no group: what the evidence says of the deposit stands, and deciding about it again does not end this. */
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
