import { compareSchema } from './schema.ts'

/** How one part of the daemon stands, in words. */
export type ComponentHealth = { part: string; state: 'fine' | 'warning' | 'fault'; says: string }

/** What a database tells of itself and of those who work on it. Ages are in seconds. */
export type Vitals = {
  /** Names of the migrations that were applied. */
  migrations: readonly string[]
  /** It answers and takes nothing: a standby, or set so. */
  isReadOnly: boolean
  inboxOldest: number
  /** Since each stream last came to its end; those that never did are not there. */
  ages: ReadonlyMap<string, number>
}

export type HealthExpectations = {
  /** Names of the migrations of this program. */
  migrations: readonly string[]
  /** Streams that are to be read on, beside the signs of life, and for how many seconds one may go unread. */
  streams: ReadonlyMap<string, number>
  /** For how long what never came was waited for; null where nobody waits. */
  waited: number | null
}

/** Signs of life are kept as the ages of these streams. */
export const schedulerStream = 'scheduler'
export const workerStream = 'worker'

/** An observation that waits longer than this is not being applied. */
export const inboxOldestMaxSeconds = 60
/** A stream that was last read completely longer ago is not being read, unless it is to be read less often. */
export const streamAgeMaxSeconds = 300
/** Who gave no sign of life for longer is gone; six of them are missing then. */
export const beatAgeMaxSeconds = 60

export function judgeDatabase({ isReadOnly }: Pick<Vitals, 'isReadOnly'>): ComponentHealth {
  const part = 'database'
  if (!isReadOnly) return { part, state: 'fine', says: 'answers' }
  return {
    part,
    state: 'fault',
    says: 'answers and is read only: a standby, or set so; nothing can be stored',
  }
}

/** Holds what a database tells against what is expected of it, part by part. */
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
 * While a newer version takes over, processes of the older one go on with what they know: also where it took something
 * away, since by the rules of upgrades the version before it used that no more. Which one this is it cannot know.
 */
function judgeSchema({ migrations }: Vitals, { migrations: own }: HealthExpectations): ComponentHealth {
  const part = 'schema'
  const needed = own.at(-1) ?? ''
  const found = compareSchema(migrations, own)
  if (found.kind === 'current') return { part, state: 'fine', says: `at ${found.at}` }
  if (found.kind === 'newer') {
    const says = `at ${found.at}, of a newer version; this one knows ${needed}`
    const end = `, and does not start again: ${found.contract} took something away`
    return { part, state: 'warning', says: found.contract === null ? says : says + end }
  }
  const faults = {
    missing: () => 'is not made yet',
    behind: (at: string) => `at ${at}; this version needs ${needed}`,
    unknown: (at: string) => `has ${at}, which this version does not know`,
  }
  return { part, state: 'fault', says: faults[found.kind]('at' in found ? found.at : '') }
}

function judgeInbox(oldest: number): ComponentHealth {
  const part = 'inbox'
  const says =
    oldest === 0 ? 'nothing waits to be applied' : `the oldest waits ${whole(oldest)} to be applied`
  if (oldest <= inboxOldestMaxSeconds) return { part, state: 'fine', says }
  return { part, state: 'fault', says: `${says}; ${inboxOldestMaxSeconds} s are allowed` }
}

type AgeLimit = { part: string; sign: string; max: number }

function judgeAge({ part, sign, max }: AgeLimit, age: number | null, waited: number | null): ComponentHealth {
  if (age !== null) {
    const says = `last ${sign} ${whole(age)} ago`
    if (age <= max) return { part, state: 'fine', says }
    return { part, state: 'fault', says: `${says}; ${max} s are allowed` }
  }
  if (waited === null) return { part, state: 'warning', says: `no ${sign} so far` }
  if (waited <= max) return { part, state: 'fine', says: `no ${sign} yet` }
  return { part, state: 'fault', says: `no ${sign} for ${whole(waited)}; ${max} s are allowed` }
}

function whole(seconds: number): string {
  return `${Math.floor(seconds)} s`
}
