import { readFileSync } from 'node:fs'

const lookEveryMs = 50

/** The most memory that a process has resident, while it is watched. */
export type MemoryWatch = Disposable & {
  /** Beyond what it had when the watch began, in bytes. */
  readonly grown: number
}

export function watchMemory(pid: number): MemoryWatch {
  const before = residentOf(pid)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentOf(pid))
  }, lookEveryMs)
  return {
    get grown() {
      return most - before
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** 0 where it has ended. */
function residentOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes ?? 0) * 1024
  } catch {
    return 0
  }
}
