import type { Kysely, Transaction } from 'kysely'
import { serviceOf } from '../../core/evidence.ts'
import type { DepositClient, DepositPage } from '../../provider/deposit-client.ts'
import type { PageMark } from '../../provider/paging.ts'
import type { ListProfile } from '../../provider/profile/profile-schema.ts'
import { inTransaction, preparing } from '../../store/database.ts'
import { clearMismatches, type MismatchChange, openMismatches } from '../../store/mismatches/mismatches.ts'
import { markGone, type RemovedRecord, type ServiceRecord, saveRecords } from '../../store/records.ts'
import type { Tables } from '../../store/tables.ts'

export type ReadDeps = {
  db: Kysely<Tables>
  client: DepositClient
  now: () => Date
  /** Called first in each writing transaction. Throws once another process has taken over. */
  keepPlace?: (tx: Transaction<Tables>) => Promise<void>
  keepPace?: () => Promise<void>
}

export type PollReport = {
  pages: number
  stored: number
  drifts: number
  mismatches: MismatchChange[]
}

export const nothingRead = (): PollReport => ({ pages: 0, stored: 0, drifts: 0, mismatches: [] })

/** Null if the service no longer accepts the mark. */
async function readPage(
  deps: ReadDeps,
  start: { mark: PageMark; since: Date | null },
  reading: PollReport,
): Promise<DepositPage | null> {
  const sentAt = deps.now()
  const page = await deps.client.listDeposits(start)
  if (page === null) return null
  await keep(deps, page.records, { sentAt, reading })
  reading.pages++
  return page
}

/**
 * A record that was missed before, and is gone, is a `record_disappeared`.
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

/** `sentAt`: the request that did not return them. */
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
  { db, client: { service }, now, keepPlace, keepPace }: ReadDeps,
  records: readonly ServiceRecord[],
  { sentAt, reading }: RecordReadContext,
): Promise<void> {
  const { stored, cleared } = await inTransaction(preparing(db), async (tx) => {
    await keepPlace?.(tx)
    const saved = await saveRecords(tx, records, { service, sentAt, receivedAt: now() })
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

/** In no group: the evidence stands, and a new decision does not clear this mismatch. */
function disappearance({ id, depositId, network, asset, amount, state }: RemovedRecord) {
  const value = amount === null ? null : BigInt(amount)
  const detail = { record: id, ...(state !== null && { state }) }
  return {
    subject: subjectOf(id),
    kind,
    service: serviceOf(id),
    depositId,
    network,
    asset,
    value,
    detail,
  } as const
}

export type WalkDeps = ReadDeps & Required<Pick<ReadDeps, 'keepPlace'>>

export type PageWalkOptions = {
  from: PageMark
  since: Date | null
  pagesMax: number
  isEnough: (page: DepositPage) => boolean
  /** After each page that another one follows, with the mark of that one. */
  onPage?: (next: PageMark) => Promise<void>
}

export type PageWalkResult = {
  /** `expired`: the starting mark is no longer accepted. `paused`: the list has more than `pagesMax` pages. */
  end: 'reached' | 'paused' | 'expired'
  mark: PageMark
  lastMark: PageMark
}

export async function walkPages(
  deps: WalkDeps,
  walk: PageWalkOptions,
  reading: PollReport,
): Promise<PageWalkResult> {
  let mark = walk.from
  let lastMark = walk.from
  const isLastAgain = watchRepeats(deps.client.list)
  const hasShifted = watchShifts(deps.client.list)
  for (let pages = 1; ; pages++) {
    const page = await readPage(deps, { mark, since: walk.since }, reading)
    if (page === null) return expired(pages)
    if (isLastAgain(page)) return { end: 'reached', mark, lastMark }
    if (hasShifted(page)) reading.drifts++
    if (page.records.length > 0) lastMark = mark
    if (page.next === null || walk.isEnough(page)) return { end: 'reached', mark, lastMark }
    ;({ mark } = page.next)
    await walk.onPage?.(mark)
    if (pages === walk.pagesMax) return { end: 'paused', mark, lastMark }
  }
}

/** @throws Error if the refused mark is not the first of the walk */
function expired(pages: number): PageWalkResult {
  if (pages > 1) throw new Error('the service refused the mark that it returned for its next page')
  return { end: 'expired', mark: null, lastMark: null }
}

/** Some services repeat their last page for every higher number. */
function watchRepeats({ pages }: ListProfile): (page: DepositPage) => boolean {
  let before = ''
  return ({ records }) => {
    const texts = pages === 'page' ? records.map(({ text }) => text).join('\n') : ''
    const isSame = texts !== '' && texts === before
    before = texts
    return isSame
  }
}

/** Per walk. */
const stepsBackMax = 20

/**
 * True if the mark leads back, or the page repeats a record of an earlier one. Pages by offset and by time overlap by
 * design, so only the mark counts.
 */
function watchShifts({ pages }: ListProfile): (page: DepositPage) => boolean {
  const isOnceEach = pages !== 'offset' && pages !== 'since'
  const seen = new Set<string>()
  let stepsBack = 0
  return ({ records, next }) => {
    const isBack = next?.isDrift ?? false
    if (isBack) stepsBack++
    if (stepsBack > stepsBackMax)
      throw new Error('records shift between pages faster than the pages can be read')
    const ids = records.flatMap(({ id }) => (id === null ? [] : [id]))
    const isRepeat = isOnceEach && ids.some((id) => seen.has(id))
    for (const id of isOnceEach ? ids : []) seen.add(id)
    return isBack || isRepeat
  }
}
