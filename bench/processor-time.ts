import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds for which a process was on a processor so far, all its threads together. As Linux counts it. */
export function processorMs(pid: number): number {
  return names(`/proc/${pid}/task`)
    .map((thread) => read(`/proc/${pid}/task/${thread}/schedstat`))
    .reduce((sum, text) => sum + Number(text.split(' ')[0] ?? 0) / 1e6, 0)
}

const sampledEveryMs = 200

/**
 * Watches the sessions that a database has with its server, those included that begin or end meanwhile,
 * where they last for `everyMs`: to look through all processes takes time itself. What the
 * server does beside, like vacuuming, is not theirs.
 * @returns what tells for how many milliseconds they were on a processor since
 */
export function watchSessions(
  database: string,
  everyMs = sampledEveryMs,
): Disposable & { taken: () => number } {
  const before = new Map(sessionsOf(database).map((pid) => [pid, processorMs(pid)]))
  const latest = new Map(before)
  const sample = () => {
    for (const pid of sessionsOf(database)) latest.set(pid, Math.max(latest.get(pid) ?? 0, processorMs(pid)))
  }
  const timer = setInterval(sample, everyMs)
  return {
    taken() {
      sample()
      return [...latest].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0)
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** A session calls itself by its user, its database and its client's address. */
function sessionsOf(database: string): number[] {
  const title = new RegExp(`^postgres: \\S+ ${database} \\d`)
  return names('/proc')
    .filter((name) => /^\d+$/.test(name) && title.test(read(`/proc/${name}/cmdline`)))
    .map(Number)
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The process ended just now.
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
