import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * What tells this run of a process apart from any other that is given the same number later: when it started.
 * Null where no such process runs. Reads `/proc` on Linux, where slim images lack `ps`, and asks `ps` elsewhere.
 */
export function identifyProcess(pid: number): string | null {
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid)
}

function identifyByProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`)
  // The name in parentheses may itself hold spaces and parentheses, so the fields count from the last one.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startedTicks] = [fields?.[0], fields?.[19]]
  if (state === undefined || startedTicks === undefined || isDead(state)) return null
  // Ticks count from the boot, and a boot can repeat them.
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

/** A zombie has ended and waits only for its parent to notice. */
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
