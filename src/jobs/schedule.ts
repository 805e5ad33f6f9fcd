import { createTask } from 'node-cron'

/** A cron expression with seconds, and what to do at each tick, which tells whether it was done. */
export type Tick = { name: string; expression: string; run: () => Promise<boolean> }

/** What a tick tells of its work; why that failed is told to `failed`. */
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
 * Starts ticking. A tick that comes while the same one still runs is left out.
 * @param report is told what kept the schedule itself from ticking.
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
  // Ticks that a busy process comes too late for have their turn first.
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
/** A busy process ticks late by itself. */
const lateMs = 1000
/** A tick that a busy process, or a clock that was set forward, came too late for is done then, and not left out. */
const missedExecutionTolerance = 86_400_000

/**
 * A tick is awaited for as long as it was away by the clock when the one before came: where that was wrong for a moment, or
 * is set back meanwhile, nothing would tick until it is there again. So each is awaited by a clock that nobody sets, too, and
 * where it does not come, the task is started anew, and waits by the clock as it is then.
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
  // It would write to standard error by itself, a line for each tick that is left out among them.
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

/** Schedulers tick within so many milliseconds of each other, however seldom they do. */
const quietMaxMs = 60_000

/** As many ticks tell how regular they are. */
const ticksLookedAt = 60

/** The longest time between ticks to come, in seconds. */
export function longestPause(expression: string): number {
  return Math.max(0, ...pausesOf(expression)) / 1000
}

function pausesOf(expression: string): number[] {
  const times = createTask(expression, ignore, { suppressMissedWarning: true }).getNextRuns(ticksLookedAt)
  return times.slice(1).map((time, place) => time.getTime() - (times[place] ?? time).getTime())
}

/** What schedulers know of each other. */
export type TickClaims = {
  /** @returns the number of the claim, which keeps a tick from others for so long; null where another has it */
  claim: (tick: string, quietMs: number) => Promise<bigint | null>
  /** Leaves a tick of that claim, or one that nobody has, to whoever takes it up. */
  giveBack: (tick: string, claim: bigint) => Promise<void>
  givenBack: () => Promise<readonly string[]>
}

/** Where it could not be asked for. They are counted from 1. */
const noClaim = 0n
const takeUpEvery = '*/5 * * * * *'

/**
 * Ticks of which one of all schedulers runs each, and one more: what somebody could not do is taken up by whoever can.
 * Where claims cannot be asked for each runs them: the same work asked for twice costs less than work that nobody asks
 * for.
 */
export function sharedTicks(ticks: readonly Tick[], claims: TickClaims): Tick[] {
  // Whoever could not do the last tick, of any name, claims none until it can: it would take them from those who can.
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
