import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds for which a process was on a processor so far, all its threads together. As Linux counts it. */
export function processorMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => read(`/proc/${pid}/task/${thread}/schedstat`))
    .reduce((sum, text) => sum + Number(text.split(' ')[0] ?? 0) / 1e6, 0)
}

/** The same of all processes that a Postgres server has started and that are still there, by one of them. */
export function serverProcessorMs(backend: number): number {
  const server = parentOf(String(backend))
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === server)
    .reduce((sum, name) => sum + processorMsIfThere(Number(name)), 0)
}

function processorMsIfThere(pid: number): number {
  try {
    return processorMs(pid)
  } catch {
    // It ended just now.
    return 0
  }
}

/** Behind the name, which is in brackets and may hold anything, come the state and the parent. */
function parentOf(pid: string): string {
  const text = read(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? ''
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
