import type { Kysely } from 'kysely'
import { createTask } from 'node-cron'
import type { Settings } from '../config/settings.ts'
import { schedulerStream, streamAgeMaxSeconds } from '../health.ts'
import { keepBeat } from '../store/server-facts.ts'
import type { Tables } from '../store/tables.ts'
import { scanStream } from './chain/scan-position.ts'
import { pollStream } from './poll/position.ts'
import type { JobName } from './work.ts'

/** A cron expression with seconds, and the work of each tick. `run` resolves to whether the work was done. */
export type Tick = { name: string; expression: string; run: () => Promise<boolean> }

export type TickDeps = {
  db: Kysely<Tables>
  wake: (job: JobName, key?: string) => Promise<void>
  jobFailed: (job: JobName, error: unknown, key?: string) => void
}

/** A process counts as gone after six missed heartbeats. */
const beatExpression = '*/10 * * * * *'

/** The jobs to wake and how often. Wake-ups of a job that is already waiting are merged. */
export function ticksOf(
  { networks, schedule }: Pick<Settings, 'networks' | 'schedule'>,
  { db, wake, jobFailed }: TickDeps,
): Tick[] {
  const waking = (job: JobName, key?: string) => () =>
    isDone(wake(job, key), (error) => jobFailed(job, error, key))
  // The scheduler's own heartbeat, and the worker's, which shows that wake-ups pass through the queue.
  const beat = async () => {
    await keepBeat(db, schedulerStream)
    await wake('beat')
  }
  const ofNetworks = networks
    .filter(({ rpcUrls }) => rpcUrls.length > 0)
    .flatMap(({ name }) => [
      { name: `scan ${name}`, expression: schedule.scan, run: waking('scan', name) },
      { name: `backfill ${name}`, expression: schedule.backfill, run: waking('backfill', name) },
      { name: `balances ${name}`, expression: schedule.balances, run: waking('prove', name) },
    ])
  return [
    ...ofNetworks,
    { name: 'poll', expression: schedule.poll, run: waking('poll') },
    { name: 'sweep', expression: schedule.sweep, run: waking('sweep') },
    { name: 'audit', expression: schedule.audit, run: waking('audit') },
    { name: 'seal', expression: schedule.seal, run: waking('seal') },
    {
      name: 'beat',
      expression: beatExpression,
      run: () => isDone(beat(), (error) => jobFailed('beat', error)),
    },
  ]
}

/** Resolves to whether the work succeeded. A failure is passed to `failed`. */
export function isDone(work: Promise<void>, failed: (error: unknown) => void): Promise<boolean> {
  return work.then(
    () => true,
    (error: unknown) => {
      failed(error)
      return false
    },
  )
}

export type Schedule = { stop: () => Promise<void> }

/**
 * Starts the ticks. A tick is skipped while the previous one of the same name still runs.
 * @param report receives errors of the schedule itself
 */
export async function startSchedule(
  ticks: readonly Tick[],
  report: (error: unknown) => void,
): Promise<Schedule> {
  const tasks = ticks.map((tick) => createWatched(tick, report))
  for (const task of tasks) await task.start()
  let restarted = Promise.resolve()
  const look = () => {
    for (const task of tasks)
      if (task.isLate()) restarted = restarted.then(() => task.restart()).catch(report)
  }
  // Lets ticks run first that are late because the process is busy.
  const timer = setInterval(() => setImmediate(look), lookEveryMs)
  return {
    async stop() {
      clearInterval(timer)
      await restarted
      for (const task of tasks) await task.destroy()
    },
  }
}

const lookEveryMs = 1000
/** A busy process ticks late without further cause. */
const lateMs = 1000
/** Runs a late tick instead of skipping it, after a busy period or a forward jump of the clock. */
const missedExecutionTolerance = 86_400_000

/**
 * The library waits for a tick by the wall clock as it was at the previous tick. If the clock was wrong then, or is set
 * back in between, nothing ticks until it catches up. So each tick is also timed by the monotonic clock. If it does not
 * come, the task is restarted and waits by the current wall clock.
 */
function createWatched({ name, expression, run }: Tick, report: (error: unknown) => void) {
  let dueAt = Infinity
  const awaitNext = () => {
    const [next] = task.getNextRuns(1)
    dueAt = next === undefined ? Infinity : performance.now() + next.getTime() - Date.now()
  }
  const work = async () => {
    dueAt = Infinity
    await run().finally(awaitNext)
  }
  // Without a logger the library writes to standard error, including a line for each skipped tick.
  const logger = { debug: ignore, info: ignore, warn: ignore, error: report }
  const quiet = { noOverlap: true, suppressMissedWarning: true, missedExecutionTolerance, logger }
  const task = createTask(expression, work, { name, ...quiet })
  const start = async () => {
    await task.start()
    awaitNext()
  }
  return {
    start,
    isLate: () => performance.now() > dueAt + lateMs,
    async restart() {
      await task.stop()
      await start()
    },
    destroy: () => task.destroy(),
  }
}

/** Ticks of different schedulers are at most this far apart, even for rare ticks. */
const quietMaxMs = 60_000

/** Number of upcoming ticks from which the longest pause is derived. */
const ticksLookedAt = 60

/** The longest pause between upcoming ticks, in seconds. */
export function longestPause(expression: string): number {
  return Math.max(0, ...pausesOf(expression)) / 1000
}

function pausesOf(expression: string): number[] {
  const times = createTask(expression, ignore, { suppressMissedWarning: true }).getNextRuns(ticksLookedAt)
  return times.slice(1).map((time, index) => time.getTime() - (times[index] ?? time).getTime())
}

/** Coordination between schedulers. */
export type TickClaims = {
  /** @returns the number of the claim, which reserves the tick for that long; null if another scheduler has it */
  claim: (tick: string, quietMs: number) => Promise<bigint | null>
  /** Releases a claimed tick, or one without a claim, for any scheduler to take over. */
  giveBack: (tick: string, claim: bigint) => Promise<void>
  givenBack: () => Promise<readonly string[]>
}

/** Used if the claim could not be requested. Real claims count from 1. */
const noClaim = 0n
const takeUpEvery = '*/5 * * * * *'

/**
 * Makes ticks shared, so that one of all schedulers runs each, and adds a tick that takes over failed ones. If claims
 * are unavailable, every scheduler runs the tick: doing work twice costs less than missing it.
 */
export function sharedTicks(ticks: readonly Tick[], claims: TickClaims): Tick[] {
  // A scheduler whose last tick failed, of any name, claims none until one succeeds. It would take ticks from
  // schedulers that work.
  let isAble = true
  const shared = ticks.map((tick): Tick => {
    const quietMs = Math.min(quietMaxMs, ...pausesOf(tick.expression)) / 2
    return {
      ...tick,
      async run() {
        const claim = isAble ? await claims.claim(tick.name, quietMs).catch(() => noClaim) : noClaim
        if (claim === null) return true
        isAble = await tick.run()
        if (!isAble) await claims.giveBack(tick.name, claim).catch(ignore)
        return isAble
      },
    }
  })
  const takeUp = async () => {
    const names = isAble ? await claims.givenBack().catch(() => []) : []
    for (const { name, run } of shared) if (isAble && names.includes(name)) await run()
    return isAble
  }
  return [...shared, { name: 'given back', expression: takeUpEvery, run: takeUp }]
}

function ignore(): void {}

/** All streams that these settings read, with the maximum age of each in seconds. */
export function expectedStreams({
  networks,
  schedule,
  poll,
}: Pick<Settings, 'networks' | 'schedule' | 'poll'>): Map<string, number> {
  const read = networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
  const pollEvery = Math.max(longestPause(schedule.poll), poll.quietMs / 1000)
  const scanMax = allowedAge(streamAgeMaxSeconds, longestPause(schedule.scan))
  return new Map([
    [pollStream, allowedAge(streamAgeMaxSeconds, pollEvery)],
    ...read.map(({ name }) => [scanStream(name), scanMax] as const),
  ])
}

/** A rare event may be missed once before it counts as overdue. */
export function allowedAge(usual: number, everySeconds: number): number {
  return Math.max(usual, 2 * everySeconds)
}
