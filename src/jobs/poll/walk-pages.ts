import type { DepositPage } from '../../provider/deposit-client.ts'
import type { PageMark } from '../../provider/page-marks.ts'
import type { ListProfile } from '../../provider/profile/list-schema.ts'
import { type PollReport, type ReadDeps, readPage } from './read-records.ts'

export type WalkDeps = ReadDeps & Required<Pick<ReadDeps, 'keepPlace'>>

export type PageWalkOptions = {
  from: PageMark
  since: Date | null
  pagesMax: number
  /** Whether the walk may stop after this page. */
  isEnough: (page: DepositPage) => boolean
}

export type PageWalkResult = {
  /** `expired`: the service no longer accepts the starting mark. `paused`: the list has more than `pagesMax` pages. */
  end: 'reached' | 'paused' | 'expired'
  /** Mark from which the next walk continues. */
  mark: PageMark
  /** Start of the last page that had records. */
  lastMark: PageMark
}

/** Reads page after page and stores each, until another process takes over. */
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
    if (pages === walk.pagesMax) return { end: 'paused', mark, lastMark }
  }
}

/** @throws Error if the refused mark is not the first of the walk */
function expired(pages: number): PageWalkResult {
  if (pages > 1) throw new Error('the service refuses the place that it named as its next page')
  return { end: 'expired', mark: null, lastMark: null }
}

/** Detects a page equal to the one before: some services repeat their last page for every higher number. */
function watchRepeats({ pages }: ListProfile): (page: DepositPage) => boolean {
  let before = ''
  return ({ records }) => {
    const texts = pages === 'page' ? records.map(({ text }) => text).join('\n') : ''
    const isSame = texts !== '' && texts === before
    before = texts
    return isSame
  }
}

/** How often the pages of one walk may lead back. */
const stepsBackMax = 20

/**
 * Detects records that shifted between pages: the mark of a page leads back, or it repeats a record of an earlier page.
 * Pages by offset and by time overlap by design, so for them only the mark counts.
 */
function watchShifts({ pages }: ListProfile): (page: DepositPage) => boolean {
  const isOnceEach = pages !== 'offset' && pages !== 'since'
  const seen = new Set<string>()
  let stepsBack = 0
  return ({ records, next }) => {
    const isBack = next?.isDrift ?? false
    if (isBack) stepsBack++
    if (stepsBack > stepsBackMax) throw new Error('the records shift faster than their pages can be read')
    const ids = records.flatMap(({ id }) => (id === null ? [] : [id]))
    const isRepeat = isOnceEach && ids.some((id) => seen.has(id))
    for (const id of isOnceEach ? ids : []) seen.add(id)
    return isBack || isRepeat
  }
}
