import { type CaseLoss, causeWithinMs, type OpenCause } from './cause.ts'

/** Losses in base units, as decimal text by asset. */
export type NoticeFigures = { count: number; losses: Readonly<Record<string, string>> }

/** A cause about which people of a channel have a message. */
export type CauseNotice = {
  key: string
  kind: string
  service: string
  network: string
  /** When its first and its last mismatch were opened. */
  since: Date
  until: Date
  /** Of the last message. */
  figures: NoticeFigures
  messageAt: Date
  closedAt: Date | null
}

/** `unchanged`: nothing new to say, though the mismatches of the cause may be others. */
export type NoticeStep = CauseNotice & {
  says: 'opened' | 'grown' | 'reopened' | 'ended' | 'unchanged'
  /** Null if it has ended. */
  cause: OpenCause | null
}

/** A cause that grows fast would otherwise double every few seconds. */
const growthPauseMs = 300_000

/**
 * One message when a cause calls for people, one each time its count or its loss has doubled, and one when it ends.
 * @param notices also of ended causes, which may come back
 */
export function noticeSteps(
  causes: readonly OpenCause[],
  notices: readonly CauseNotice[],
  now: Date,
): NoticeStep[] {
  const left = new Set(causes)
  const known = notices.flatMap((notice) => {
    const own = [...left].filter((cause) => isOf(cause, notice))
    for (const cause of own) left.delete(cause)
    return stepOf(notice, together(own), now)
  })
  const opened = [...left].filter((cause) => cause.callsForPeople).map((cause) => opening(cause, now))
  return [...known, ...opened]
}

/** The oldest mismatches of a cause may end before the others, or those in between. */
function isOf(cause: OpenCause, { kind, service, network, since, until }: CauseNotice): boolean {
  const isAlike = cause.kind === kind && cause.service === service && cause.network === network
  const isLater = cause.since.getTime() - until.getTime() > causeWithinMs
  const isEarlier = since.getTime() - cause.until.getTime() > causeWithinMs
  return isAlike && !isLater && !isEarlier
}

function together(causes: readonly OpenCause[]): OpenCause | null {
  const [first, ...more] = causes
  if (first === undefined) return null
  return more.reduce(
    (sum, one) => ({
      ...sum,
      until: one.until > sum.until ? one.until : sum.until,
      count: sum.count + one.count,
      losses: [...sum.losses, ...one.losses],
      callsForPeople: sum.callsForPeople || one.callsForPeople,
    }),
    first,
  )
}

function opening(cause: OpenCause, now: Date): NoticeStep {
  const { kind, service, network, since, until } = cause
  const key = `cause/${kind}/${service}/${network}/${since.toISOString()}`
  const of = { key, kind, service, network, since, until }
  return { ...of, figures: figuresOf(cause), messageAt: now, closedAt: null, says: 'opened', cause }
}

function stepOf(notice: CauseNotice, cause: OpenCause | null, now: Date): NoticeStep[] {
  const isClosed = notice.closedAt !== null
  if (cause === null)
    return isClosed ? [] : [{ ...notice, messageAt: now, closedAt: now, says: 'ended', cause }]
  const span = spanOf(notice, cause)
  const figures = figuresOf(cause)
  const said = { ...notice, ...span, figures, messageAt: now, closedAt: null, cause }
  if (isClosed) return cause.callsForPeople ? [{ ...said, says: 'reopened' }] : []
  if (cause.callsForPeople && hasGrown(notice, figures, now)) return [{ ...said, says: 'grown' }]
  const isMoved = span.since < notice.since || span.until > notice.until
  return isMoved ? [{ ...notice, ...span, says: 'unchanged', cause }] : []
}

function spanOf(
  notice: Pick<CauseNotice, 'since' | 'until'>,
  cause: OpenCause,
): Pick<CauseNotice, 'since' | 'until'> {
  return {
    since: cause.since < notice.since ? cause.since : notice.since,
    until: cause.until > notice.until ? cause.until : notice.until,
  }
}

function hasGrown({ figures: before, messageAt }: CauseNotice, figures: NoticeFigures, now: Date): boolean {
  if (now.getTime() - messageAt.getTime() < growthPauseMs) return false
  if (figures.count >= 2 * before.count) return true
  return Object.entries(figures.losses).some(
    ([asset, amount]) => BigInt(amount) >= 2n * BigInt(before.losses[asset] ?? 0),
  )
}

/** Without losses that are not known. */
function figuresOf({ count, losses }: OpenCause): NoticeFigures {
  const known = losses.filter((loss): loss is CaseLoss & { amount: bigint } => (loss.amount ?? 0n) > 0n)
  const sums = Map.groupBy(known, ({ asset }) => asset)
  const texts = [...sums].map(([asset, of]) => [asset, `${of.reduce((sum, { amount }) => sum + amount, 0n)}`])
  return { count, losses: Object.fromEntries(texts) }
}
