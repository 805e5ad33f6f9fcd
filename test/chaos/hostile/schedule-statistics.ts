import { readFileSync } from 'node:fs'

/** Nanoseconds that the main thread of a process has run, and has waited for a processor that others had. */
export type RunTimes = { ran: number; waited: number }

/** Source: Documentation/scheduler/sched-stats.rst of Linux, `/proc/<pid>/schedstat`. */
export function runTimes(pid: number): RunTimes {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
    .split(' ')
    .map(Number)
  return { ran, waited }
}

/** By how much a busy machine made everything take longer between two looks; 1 where nobody was in the way. */
export function stretchBetween(before: RunTimes, after: RunTimes): number {
  const ran = after.ran - before.ran
  return ran <= 0 ? 1 : (ran + after.waited - before.waited) / ran
}
