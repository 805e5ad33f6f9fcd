export const roles = ['http', 'worker', 'scheduler'] as const
export type Role = (typeof roles)[number]

export type ComponentHealth = { part: string; state: 'fine' | 'warning' | 'fault'; says: string }

/** Ages are in seconds. */
export type Vitals = {
  migrations: readonly string[]
  /** A standby, or set to read-only. */
  isReadOnly: boolean
  inboxOldest: number
  /** Since each stream last reached its end. Streams that never did are absent. */
  ages: ReadonlyMap<string, number>
}

export type HealthExpectations = {
  migrations: readonly string[]
  /** Besides the heartbeats, and for how many seconds one may go unread. */
  streams: ReadonlyMap<string, number>
  /** How many seconds the process has waited for signs that never came; null if nothing waits. */
  waited: number | null
}

/** Heartbeats are stored as the ages of these streams. */
export const schedulerStream = 'scheduler'
export const workerStream = 'worker'

/** An observation that waits longer is not being applied. */
const inboxOldestMaxSeconds = 60
/** Unless the stream has a longer limit of its own. */
export const streamAgeMaxSeconds = 300
/** Six missed heartbeats. */
export const beatAgeMaxSeconds = 60

export function judgeDatabase({ isReadOnly }: Pick<Vitals, 'isReadOnly'>): ComponentHealth {
  const part = 'database'
  if (!isReadOnly) return { part, state: 'fine', says: 'answers' }
  return {
    part,
    state: 'fault',
    says: 'answers but is read-only (a standby, or set to read-only); nothing can be stored',
  }
}

export function judgeVitals(vitals: Vitals, expected: HealthExpectations): ComponentHealth[] {
  const ageOf = (part: string, sign: string, max: number) =>
    judgeAge({ part, sign, max }, vitals.ages.get(part) ?? null, expected.waited)
  return [
    judgeSchema(vitals, expected),
    judgeInbox(vitals.inboxOldest),
    ageOf(schedulerStream, 'tick', beatAgeMaxSeconds),
    ageOf(workerStream, 'job', beatAgeMaxSeconds),
    ...[...expected.streams].map(([part, max]) => ageOf(part, 'complete reading', max)),
  ]
}

/**
 * While a newer version takes over, older processes continue even if it removed something: by the upgrade rules, the
 * version before it no longer used that.
 */
function judgeSchema({ migrations }: Vitals, { migrations: own }: HealthExpectations): ComponentHealth {
  const part = 'schema'
  const needed = own.at(-1) ?? ''
  const found = compareSchema(migrations, own)
  if (found.kind === 'current') return { part, state: 'fine', says: `at ${found.at}` }
  if (found.kind === 'newer') {
    const says = `at ${found.at}, from a newer version; this version knows ${needed}`
    const end = `; this version cannot start again, because ${found.contract} removed something that it uses`
    return { part, state: 'warning', says: found.contract === null ? says : says + end }
  }
  const faults = {
    missing: () => 'is not created yet',
    behind: (at: string) => `at ${at}; this version needs ${needed}`,
    unknown: (at: string) => `has ${at}, which this version does not know`,
  }
  return { part, state: 'fault', says: faults[found.kind]('at' in found ? found.at : '') }
}

function judgeInbox(oldest: number): ComponentHealth {
  const part = 'inbox'
  const says =
    oldest === 0 ? 'nothing waits to be applied' : `the oldest row has waited ${whole(oldest)} to be applied`
  if (oldest <= inboxOldestMaxSeconds) return { part, state: 'fine', says }
  return { part, state: 'fault', says: `${says}; the limit is ${inboxOldestMaxSeconds} s` }
}

type AgeLimit = { part: string; sign: string; max: number }

function judgeAge({ part, sign, max }: AgeLimit, age: number | null, waited: number | null): ComponentHealth {
  if (age !== null) {
    const says = `last ${sign} ${whole(age)} ago`
    if (age <= max) return { part, state: 'fine', says }
    return { part, state: 'fault', says: `${says}; the limit is ${max} s` }
  }
  if (waited === null) return { part, state: 'warning', says: `no ${sign} so far` }
  if (waited <= max) return { part, state: 'fine', says: `no ${sign} yet` }
  return { part, state: 'fault', says: `no ${sign} for ${whole(waited)}; the limit is ${max} s` }
}

function whole(seconds: number): string {
  return `${Math.floor(seconds)} s`
}

export type SchemaState =
  | { kind: 'missing' }
  | { kind: 'behind' | 'current'; at: string }
  /** `contract` is the newest migration that removed something this program may use; null if all only added. */
  | { kind: 'newer'; at: string; contract: string | null }
  /** `at` is the newest migration that this program lacks and that no later version of it added. */
  | { kind: 'unknown'; at: string }

/** Ends the name of a migration that removes something earlier versions use; all other migrations only add. */
const contracting = '_contract'

/** @param own all migrations of this program, in the order in which they are applied */
export function compareSchema(applied: readonly string[], own: readonly string[]): SchemaState {
  const found = applied.toSorted()
  const at = found.at(-1)
  if (at === undefined) return { kind: 'missing' }
  const needed = own.toSorted()
  const shared = found.slice(0, needed.length)
  const odd = shared.findLast((name, place) => name !== needed[place])
  if (odd !== undefined) return { kind: 'unknown', at: found.findLast((name) => !own.includes(name)) ?? odd }
  const newer = found.slice(needed.length)
  if (newer.length > 0)
    return { kind: 'newer', at, contract: newer.findLast((name) => name.endsWith(contracting)) ?? null }
  return { kind: found.length < needed.length ? 'behind' : 'current', at }
}
