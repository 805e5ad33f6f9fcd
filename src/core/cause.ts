import { mismatchKinds } from './mismatch.ts'
import type { KindEntry, ResponsibleParty, Severity } from './mismatches/kind-entry.ts'
import { isWithinLimit, type Limits, type Stake } from './second-person.ts'

/** `service` and `network` are empty for what is of none. */
export type CauseCandidate = { kind: string; service: string; network: string; openedAt: Date }

type CauseKey = { kind: string; service: string; network: string; side: ResponsibleParty }

/** Mismatches that probably have one reason. */
export type Cause<Case> = CauseKey & {
  severity: Severity
  since: Date
  /** When the last one was opened. */
  until: Date
  /** Oldest first. */
  cases: readonly Case[]
}

/**
 * Mismatches of one kind, service, network and side share a cause if consecutive ones were opened no more than
 * `withinMs` apart.
 */
export function causesOf<Case extends CauseCandidate>(
  cases: readonly Case[],
  withinMs: number,
): Cause<Case>[] {
  const alike = Map.groupBy(cases, ({ kind, service, network }) => JSON.stringify([kind, service, network]))
  return [...alike.keys()]
    .toSorted()
    .flatMap((key) => split(alike.get(key) ?? [], withinMs).map((together) => causeOf(together)))
}

/** Splits at every gap longer than `withinMs`. */
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
  const { openedAt: until } = cases.at(-1) ?? one
  return { ...causeKeyOf(one), severity: entryOf(one.kind).severity, since: one.openedAt, until, cases }
}

export function causeKeyOf({ kind, service, network }: Omit<CauseCandidate, 'openedAt'>): CauseKey {
  return { kind, service, network, side: entryOf(kind).responsible }
}

/** Several assets of a network may have the same symbol. */
export type CaseLoss = Stake & { asset: string }

export type OpenCase = CauseCandidate & {
  isAssigned: boolean
  snoozedUntil: Date | null
  loss: CaseLoss | null
}

/** Similar ones that are counted together. Losses of one asset are added up. */
export type OpenCases = OpenCase & { count: number }

export type OpenCause = Omit<Cause<OpenCases>, 'cases' | 'side' | 'severity'> & {
  side: string
  severity: string
  count: number
  /** One for each asset. */
  losses: readonly CaseLoss[]
  callsForPeople: boolean
}

/** Between the opening of two mismatches of one cause. */
export const causeWithinMs = 3_600_000

export function openCauses(cases: readonly OpenCases[], alerts: AlertRules, now: Date): OpenCause[] {
  return causesOf(cases, causeWithinMs).map(({ cases: held, ...cause }) => ({
    ...cause,
    count: held.reduce((sum, { count }) => sum + count, 0),
    losses: lossesOf(held).filter((loss) => loss !== null),
    callsForPeople: needsAlert({ ...cause, cases: held }, alerts, now),
  }))
}

export type AlertRules = {
  /** Losses up to it raise no alert. In units of the asset as decimal text, by `network/SYMBOL`. */
  lossAbove: Limits
  /** How long a case is open before it raises an alert. */
  afterMs: number
}

/** Kinds that need action this soon raise an alert at once and at any loss. */
const urgentWithinHours = 1

/**
 * The cause needs cases that are not taken (assigned or snoozed) or are overdue, that are old enough, and whose losses
 * exceed a limit; an unknown loss exceeds every limit. Taking a case also takes later cases of its cause, so that a
 * cause does not raise one alert per deposit.
 */
export function needsAlert(
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

/** A longer snooze postpones the due time. */
function dueAt({ openedAt, snoozedUntil }: OpenCase, actWithinHours: number): Date {
  const due = new Date(openedAt.getTime() + actWithinHours * 3_600_000)
  return snoozedUntil !== null && snoozedUntil > due ? snoozedUntil : due
}

/** Null stands for unknown losses. */
export function lossesOf(cases: readonly Pick<OpenCase, 'loss'>[]): (CaseLoss | null)[] {
  const byAsset = Map.groupBy(
    cases.map(({ loss }) => loss),
    (loss) => loss?.asset ?? '',
  )
  return [...byAsset.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [more.reduce((sum, loss) => plus(sum, loss), first)],
  )
}

function plus(sum: CaseLoss | null, loss: CaseLoss | null): CaseLoss | null {
  if (sum === null || loss === null) return null
  const isKnown = sum.amount !== null && loss.amount !== null
  return { ...sum, amount: isKnown ? (sum.amount ?? 0n) + (loss.amount ?? 0n) : null }
}

/** The database may hold a kind of an older version. */
function entryOf(kind: string): Pick<KindEntry, 'responsible' | 'severity' | 'actWithinHours'> {
  const entries: Readonly<Record<string, KindEntry>> = mismatchKinds
  return entries[kind] ?? { responsible: 'unknown', severity: 'warning', actWithinHours: 24 }
}
