import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Identifies a run of a process by its start time, because the operating system reuses process numbers. Null if no such
 * process runs. Reads `/proc` on Linux, because slim images lack `ps`, and runs `ps` elsewhere.
 */
export function identifyProcess(pid: number): string | null {
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid)
}

function identifyByProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`)
  // The name in parentheses may contain spaces and parentheses, so the fields count from the last parenthesis.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startedTicks] = [fields?.[0], fields?.[19]]
  if (state === undefined || startedTicks === undefined || isDead(state)) return null
  // Ticks count from the boot, so they can repeat after another boot.
  const boot = readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown boot'
  return `${boot} ${startedTicks}`
}

function identifyByPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return line === '' || isDead(line) ? null : line.replace(/^\S+\s+/, '')
  } catch {
    return null
  }
}

/** A zombie has ended and only waits for its parent to collect it. */
function isDead(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X')
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
