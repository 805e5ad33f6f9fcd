import type { Kysely } from 'kysely'
import { createTask } from 'node-cron'
import type { Settings } from '../config/settings.ts'
import { schedulerStream, streamAgeMaxSeconds } from '../health.ts'
import { keepBeat } from '../store/server-facts.ts'
import type { Tables } from '../store/tables.ts'
import { scanStream } from './chain/scan-position.ts'
import { pollStream } from './poll/position.ts'
import type { JobName } from './work.ts'

/** `expression`: cron with seconds. `run` resolves to whether the work was done. */
export type Tick = { name: string; expression: string; run: () => Promise<boolean> }

export type TickDeps = {
  db: Kysely<Tables>
  wake: (job: JobName, key?: string) => Promise<void>
  jobFailed: (job: JobName, error: unknown, key?: string) => void
}

/** A process counts as gone after six missed heartbeats. */
const beatExpression = '*/10 * * * * *'

export function ticksOf(
  { networks, schedule }: Pick<Settings, 'networks' | 'schedule'>,
  { db, wake, jobFailed }: TickDeps,
): Tick[] {
  const waking = (job: JobName, key?: string) => () =>
    isDone(wake(job, key), (error) => jobFailed(job, error, key))
  // The worker's heartbeat shows that wake-ups pass through the queue.
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
 * A tick is skipped while the previous one of the same name still runs.
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
  // Ticks that are late because the process is busy come first.
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
/** After a busy period or a forward jump of the clock, a late tick runs. */
const missedExecutionTolerance = 86_400_000

/**
 * The library waits by the wall clock of the previous tick. If that was wrong, or is set back, nothing ticks until it
 * catches up. So each tick is also timed by the monotonic clock, and an absent one restarts the task.
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
  // The library's default writes to standard error, including a line for each skipped tick.
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

const quietMaxMs = 60_000

const ticksLookedAt = 60

/** Between upcoming ticks, in seconds. */
export function longestPause(expression: string): number {
  return Math.max(0, ...pausesOf(expression)) / 1000
}

function pausesOf(expression: string): number[] {
  const times = createTask(expression, ignore, { suppressMissedWarning: true }).getNextRuns(ticksLookedAt)
  return times.slice(1).map((time, index) => time.getTime() - (times[index] ?? time).getTime())
}

export type TickClaims = {
  /** Null if another scheduler has the tick; otherwise the number of the claim, which lasts that long. */
  claim: (tick: string, quietMs: number) => Promise<bigint | null>
  giveBack: (tick: string, claim: bigint) => Promise<void>
  givenBack: () => Promise<readonly string[]>
}

/** The claim could not be requested. Real claims count from 1. */
const noClaim = 0n
const takeUpEvery = '*/5 * * * * *'

/**
 * One of all schedulers runs each tick, and takes over failed ones. If claims are unavailable, all run it: doing work
 * twice costs less than missing it.
 */
export function sharedTicks(ticks: readonly Tick[], claims: TickClaims): Tick[] {
  // After a failed tick of any name, a scheduler claims none until one succeeds: it would take them from schedulers
  // that work.
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

export function allowedAge(usual: number, everySeconds: number): number {
  return Math.max(usual, 2 * everySeconds)
}
