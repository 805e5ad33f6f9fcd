import { createTask } from 'node-cron'

/** A cron expression with seconds, and what to do at each tick; what it throws is the caller's to observe. */
export type Tick = { name: string; expression: string; run: () => Promise<void> }

export type Schedule = { stop: () => Promise<void> }

/** Starts ticking. A tick that comes while the same one still runs is left out. */
export async function startSchedule(ticks: readonly Tick[]): Promise<Schedule> {
  const tasks = ticks.map(({ name, expression, run }) =>
    createTask(expression, run, { name, noOverlap: true, suppressMissedWarning: true }),
  )
  for (const task of tasks) await task.start()
  return {
    async stop() {
      for (const task of tasks) await task.destroy()
    },
  }
}
