import { mismatchKinds } from './mismatch.ts'
import type { KindEntry, ResponsibleParty, Severity } from './mismatches/mismatch-entry.ts'
import { isWithinLimit, type Limits, type Stake } from './second-person.ts'

/** An open mismatch, or several alike, as far as it says what they have in common with others. */
export type CauseCandidate = { kind: string; network: string; openedAt: Date }

/**
 * What mismatches have in common that probably have one reason: the kind, the service, the network, the side at fault, and
 * that each was opened soon after another one.
 */
export type Cause<Case> = {
  kind: string
  service: string
  network: string
  side: ResponsibleParty
  severity: Severity
  /** When the first of those that are open was opened. */
  since: Date
  /** The oldest first. */
  cases: readonly Case[]
}

/** One deposit service is read. */
const service = 'default'

/**
 * Groups open mismatches by cause. Two of the same kind, service, network and side have one cause if no more than
 * `withinMs` passed between them, or between each and the next of others that lie between them.
 */
export function causesOf<Case extends CauseCandidate>(
  cases: readonly Case[],
  withinMs: number,
): Cause<Case>[] {
  const alike = Map.groupBy(cases, ({ kind, network }) => JSON.stringify([kind, network]))
  return [...alike.keys()]
    .toSorted()
    .flatMap((key) => split(alike.get(key) ?? [], withinMs).map((together) => causeOf(together)))
}

/** Cuts cases wherever longer than `withinMs` passed between one and the next. */
function split<Case extends CauseCandidate>(cases: readonly Case[], withinMs: number): [Case, ...Case[]][] {
  const inOrder = cases.toSorted((one, other) => one.openedAt.getTime() - other.openedAt.getTime())
  const parts: [Case, ...Case[]][] = []
  let lastAt = -Infinity
  for (const one of inOrder) {
    const at = one.openedAt.getTime()
    const part = at - lastAt <= withinMs ? parts.at(-1) : undefined
    if (part === undefined) parts.push([one])
    else part.push(one)
    lastAt = at
  }
  return parts
}

function causeOf<Case extends CauseCandidate>(cases: [Case, ...Case[]]): Cause<Case> {
  const [one] = cases
  return { ...likenessOf(one), severity: entryOf(one.kind).severity, since: one.openedAt, cases }
}

/** In what mismatches have to be alike to have one cause. */
export function likenessOf({
  kind,
  network,
}: Pick<CauseCandidate, 'kind' | 'network'>): Pick<Cause<never>, 'kind' | 'service' | 'network' | 'side'> {
  return { kind, service, network, side: entryOf(kind).off }
}

/** Who works on cases, and what may be lost by them. */
export type OpenCase = CauseCandidate & { isAssigned: boolean; snoozedUntil: Date | null; loss: Stake | null }

export type AlertRules = {
  /** A loss up to this calls for nobody, in units of the asset as decimal text, by `network/SYMBOL`. */
  lossAbove: Limits
  /** How long a case is open before it calls for anybody. */
  afterMs: number
  /** See `causesOf`. */
  causeWithinMs: number
}

/** Kinds that somebody should act on within this time do not wait for their age, and no loss is too small. */
const urgentWithinHours = 1

/**
 * Whether a cause calls for people: it has cases that are old enough, that nobody has taken or that are overdue, and by
 * which more may be lost than the limit of an asset. A loss that is not known is above every limit. Who has taken a case
 * has taken those that the same cause opens after it, so that a cause does not call once for each deposit.
 */
export function callsForPeople(
  { kind, cases }: Pick<Cause<OpenCase>, 'kind' | 'cases'>,
  { lossAbove, afterMs }: AlertRules,
  now: Date,
): boolean {
  const { actWithinHours } = entryOf(kind)
  const taken = cases.filter((one) => isTaken(one, now))
  const takenSince = Math.min(...taken.map(({ openedAt }) => openedAt.getTime()))
  const isInHands = (one: OpenCase) => isTaken(one, now) || one.openedAt.getTime() > takenSince
  const waiting = cases.filter((one) => !isInHands(one) || dueAt(one, actWithinHours) <= now)
  if (actWithinHours <= urgentWithinHours) return waiting.length > 0
  if (!waiting.some(({ openedAt }) => now.getTime() - openedAt.getTime() >= afterMs)) return false
  return lossesOf(waiting).some((loss) => loss === null || !isWithinLimit(loss, lossAbove))
}

function isTaken({ isAssigned, snoozedUntil }: OpenCase, now: Date): boolean {
  return isAssigned || (snoozedUntil !== null && snoozedUntil > now)
}

/** Who puts a case off says by when it is to be looked at. */
function dueAt({ openedAt, snoozedUntil }: OpenCase, actWithinHours: number): Date {
  const due = new Date(openedAt.getTime() + actWithinHours * 3_600_000)
  return snoozedUntil !== null && snoozedUntil > due ? snoozedUntil : due
}

/** Losses of each asset added up; null stands for those that are not known. */
export function lossesOf(cases: readonly Pick<OpenCase, 'loss'>[]): (Stake | null)[] {
  const byAsset = Map.groupBy(
    cases.map(({ loss }) => loss),
    (loss) => (loss === null ? '' : `${loss.network}/${loss.symbol}`),
  )
  return [...byAsset.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [more.reduce((sum, loss) => plus(sum, loss), first)],
  )
}

function plus(sum: Stake | null, loss: Stake | null): Stake | null {
  if (sum === null || loss === null) return null
  const isKnown = sum.amount !== null && loss.amount !== null
  return { ...sum, amount: isKnown ? (sum.amount ?? 0n) + (loss.amount ?? 0n) : null }
}

/** The database may hold a kind of an older version, which is in the table no longer. */
function entryOf(kind: string): Pick<KindEntry, 'off' | 'severity' | 'actWithinHours'> {
  const entries: Readonly<Record<string, KindEntry>> = mismatchKinds
  return entries[kind] ?? { off: 'unknown', severity: 'warning', actWithinHours: 24 }
}
