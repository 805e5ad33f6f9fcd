import { quantile } from '../../bench/statistics.ts'
import { slopeOf } from './line.ts'
import type { Sample, TableSample } from './sample.ts'

/** What must not be passed. Processes are judged where a run is long enough to tell growth from the noise of a start. */
export const limits = {
  memoryMbPerHour: 40,
  processesFromMinutes: 10,
  loopP99Ms: 100,
  queueKeys: 1000,
  /** Of one table: so many dead rows, or as many as live ones. */
  deadRows: 20_000,
} as const

/** A line of the table. `isHeld` is null where nothing is asked of it. */
export type Line = { what: string; measured: string; limit: string; isHeld: boolean | null }

export type Soaked = {
  minutes: number
  samples: readonly Sample[]
  tables: readonly TableSample[]
  deposits: number
  walBytes: number
  /** Open at the end, by kind. */
  mismatches: Readonly<Record<string, number>>
  contradictions: readonly string[]
}

export function judge(soaked: Soaked): Line[] {
  const { minutes, samples, tables, deposits, mismatches, contradictions } = soaked
  const last = samples.at(-1)
  return [
    { what: 'deposits', measured: whole(deposits), limit: 'more than 0', isHeld: deposits > 0 },
    ...memoryLines(secondHalf(samples), minutes),
    ...loopLines(secondHalf(samples), minutes),
    bound('keys of the queue at the end', last?.queue.keys ?? Number.NaN, limits.queueKeys),
    free('bytes of the queue at the end', whole(last?.queue.bytes ?? Number.NaN)),
    free('bytes of the queue per job it holds', bytesPerJob(samples)),
    free('WAL bytes per deposit', whole(soaked.walBytes / Math.max(1, deposits))),
    free('longest wait of a row of the inbox, s', longestWait(samples)),
    bound('rows that wait at the end, s', last?.oldestSeconds ?? Number.NaN, 5),
    ...tables.filter(isWorth).map(tableLine),
    free(
      'open mismatches',
      Object.entries(mismatches)
        .map(([kind, count]) => `${kind} ${count}`)
        .join(', ') || 'none',
    ),
    {
      what: 'contradictions found by the oracle',
      measured: contradictions.join('; ') || 'none',
      limit: 'none',
      isHeld: contradictions.length === 0,
    },
  ]
}

function memoryLines(samples: readonly Sample[], minutes: number): Line[] {
  return ofProcesses(samples).map(({ name, seen }) => {
    const slope = slopeOf(
      seen.map(({ at, residentBytes }) => ({ at: at / 3_600_000, value: residentBytes / 1e6 })),
    )
    const last = (seen.at(-1)?.residentBytes ?? 0) / 1e6
    return ofProcess(minutes, {
      what: `resident memory of ${name}, MB/h`,
      measured: `${slope.toFixed(1)} (${last.toFixed(0)} MB at the end)`,
      limit: `at most ${limits.memoryMbPerHour}`,
      isHeld: slope <= limits.memoryMbPerHour,
    })
  })
}

function loopLines(samples: readonly Sample[], minutes: number): Line[] {
  return ofProcesses(samples).map(({ name, seen }) => {
    const lags = seen.flatMap(({ loopMs }) => loopMs ?? [])
    const what = `event loop of ${name}, median of p99, ms`
    return ofProcess(minutes, bound(what, quantile(lags, 0.5), limits.loopP99Ms))
  })
}

function ofProcess(minutes: number, line: Line): Line {
  if (minutes >= limits.processesFromMinutes) return line
  return { ...line, limit: `judged from ${limits.processesFromMinutes} minutes on`, isHeld: null }
}

/** Those that lived to the end, with all that was seen of them. */
function ofProcesses(samples: readonly Sample[]) {
  return (samples.at(-1)?.processes ?? []).map(({ name, pid }) => ({
    name,
    seen: samples.flatMap(({ at, processes }) => {
      const one = processes.find((process) => process.pid === pid)
      return one === undefined ? [] : [{ at, ...one }]
    }),
  }))
}

function secondHalf(samples: readonly Sample[]): readonly Sample[] {
  const middle = (samples.at(-1)?.at ?? 0) / 2
  return samples.filter(({ at }) => at >= middle)
}

const reportDeadFrom = 100

function isWorth({ dead }: TableSample): boolean {
  return dead >= reportDeadFrom
}

function tableLine({ table, live, dead, bytes }: TableSample): Line {
  const most = Math.max(limits.deadRows, live)
  return {
    what: `dead rows of ${table}`,
    measured: `${whole(dead)} beside ${whole(live)} (${(bytes / 1e6).toFixed(1)} MB)`,
    limit: `at most ${whole(most)}`,
    isHeld: dead <= most,
  }
}

function bound(what: string, value: number, most: number): Line {
  return { what, measured: value.toFixed(1), limit: `at most ${most}`, isHeld: value <= most }
}

function free(what: string, measured: string): Line {
  return { what, measured, limit: '', isHeld: null }
}

function longestWait(samples: readonly Sample[]): string {
  return Math.max(0, ...samples.map(({ oldestSeconds }) => oldestSeconds)).toFixed(1)
}

/** At the last moment at which it held any. */
function bytesPerJob(samples: readonly Sample[]): string {
  const held = samples.findLast(({ queue }) => queue.jobs > 0)?.queue
  return held === undefined ? 'none held' : `${whole(held.jobBytes / held.jobs)} (${whole(held.jobs)} held)`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}
