import type { DepositPage } from '../../provider/deposit-client.ts'
import type { PageMark } from '../../provider/page-marks.ts'
import type { ListProfile } from '../../provider/profile/list-schema.ts'
import { type PollReport, type ReadDeps, readPage } from './read-records.ts'

export type WalkDeps = ReadDeps & Required<Pick<ReadDeps, 'keepPlace'>>

export type PageWalkOptions = {
  from: PageMark
  since: Date | null
  pagesMax: number
  /** Whether the page leads as far as was wanted. */
  isEnough: (page: DepositPage) => boolean
}

export type PageWalkResult = {
  /** `expired`: the service does not know the mark to begin with any more. `paused`: there are more pages than were wanted. */
  end: 'reached' | 'paused' | 'expired'
  /** Where it goes on. */
  mark: PageMark
  /** Where the last page begins that held records. */
  lastMark: PageMark
}

/** Reads page after page, and writes each as long as nobody else has taken over. */
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

/** @throws Error where it is not the first place of the walk that is refused */
function expired(pages: number): PageWalkResult {
  if (pages > 1) throw new Error('the service refuses the place that it named as its next page')
  return { end: 'expired', mark: null, lastMark: null }
}

/** Some services give their last page again for every number behind it: tells whether a page is the one before. */
function watchRepeats({ pages }: ListProfile): (page: DepositPage) => boolean {
  let before = ''
  return ({ records }) => {
    const texts = pages === 'page' ? records.map(({ text }) => text).join('\n') : ''
    const isSame = texts !== '' && texts === before
    before = texts
    return isSame
  }
}

/** So often the pages of one walk may lead back. */
const stepsBackMax = 20

/**
 * Tells of each page whether records shifted since the one before: its mark leads back, or it holds one of an earlier
 * page. Pages by offset and by time begin with what the page before ended with, so that there only the mark tells.
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
