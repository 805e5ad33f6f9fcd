import type { Kysely } from 'kysely'
import { createTask } from 'node-cron'
import type { Settings } from '../config/settings.ts'
import type { ServiceName } from '../core/evidence.ts'
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
  /** Those that are polled now. */
  services: () => readonly ServiceName[]
  wake: (job: JobName, key?: string) => Promise<void>
  jobFailed: (job: JobName, error: unknown, key?: string) => void
}

/** A process counts as gone after six missed heartbeats. */
const beatExpression = '*/10 * * * * *'

export function ticksOf(
  { networks, schedule }: Pick<Settings, 'networks' | 'schedule'>,
  { db, services, wake, jobFailed }: TickDeps,
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
    {
      name: 'poll',
      expression: schedule.poll,
      run: async () => {
        const woken = await Promise.all(services().map((name) => waking('poll', name)()))
        return woken.every((isWoken) => isWoken)
      },
    },
    ...(['sweep', 'audit', 'seal'] as const).map((name) => ({
      name,
      expression: schedule[name],
      run: waking(name),
    })),
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

/**
 * A tick is skipped while the previous one of the same name still runs.
 * @param report receives errors of the schedule itself
 * @returns ends the schedule
 */
export function startSchedule(ticks: readonly Tick[], report: (error: unknown) => void): () => void {
  const ends = ticks.map((tick) => startTick(tick, report))
  return () => {
    for (const end of ends) end()
  }
}

/** After a forward jump of the clock, or a sleep of the machine, a tick is at most this late. */
const timerMaxMs = 60_000

/** A tick is due by the clock, or by the monotonic clock: a clock that is set back delays nothing. */
function startTick({ expression, run }: Tick, report: (error: unknown) => void): () => void {
  const task = createTask(expression, ignore, { suppressMissedWarning: true })
  let timer: NodeJS.Timeout | undefined
  let isEnded = false
  let at = 0
  const awaitNext = () => {
    const [next = Infinity, afterNext = Infinity] = task.getNextRuns(2).map((time) => time.getTime())
    // A timer may fire a moment early.
    at = next === at ? afterNext : next
    const dueAt = performance.now() + at - Date.now()
    const wait = () => {
      const leftMs = Math.min(at - Date.now(), dueAt - performance.now())
      if (isEnded) return
      if (leftMs > 0) timer = setTimeout(wait, Math.min(leftMs, timerMaxMs))
      else void run().catch(report).finally(awaitNext)
    }
    wait()
  }
  awaitNext()
  return () => {
    isEnded = true
    clearTimeout(timer)
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
  services,
  schedule,
  poll,
}: Pick<Settings, 'networks' | 'services' | 'schedule' | 'poll'>): Map<string, number> {
  const read = networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
  const pollEvery = Math.max(longestPause(schedule.poll), poll.quietMs / 1000)
  const scanMax = allowedAge(streamAgeMaxSeconds, longestPause(schedule.scan))
  return new Map([
    ...polledOf(services).map(
      (name) => [pollStream(name), allowedAge(streamAgeMaxSeconds, pollEvery)] as const,
    ),
    ...read.map(({ name }) => [scanStream(name), scanMax] as const),
  ])
}

export function polledOf(services: Settings['services']): ServiceName[] {
  return services.flatMap(({ name, isPaused }) => (isPaused ? [] : [name]))
}

export function allowedAge(usual: number, everySeconds: number): number {
  return Math.max(usual, 2 * everySeconds)
}
