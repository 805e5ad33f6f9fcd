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
