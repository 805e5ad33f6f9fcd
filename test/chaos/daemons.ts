import { readFileSync } from 'node:fs'
import { until } from '../support/until.ts'
import type { ChaosWorld, DaemonOptions, DaemonProcess } from './world.ts'

export function running({ daemons }: Pick<ChaosWorld, 'daemons'>): DaemonProcess[] {
  return daemons().filter((daemon) => daemon.isRunning())
}

export function withRole(world: Pick<ChaosWorld, 'daemons'>, role: string): DaemonProcess[] {
  return running(world).filter(({ roles }) => roles.split(',').includes(role))
}

/** Kills all that have a role, and starts one process in their place. */
export async function inPlaceOf(
  world: ChaosWorld,
  role: 'http' | 'worker',
  started: DaemonOptions & { roles: string },
): Promise<DaemonProcess> {
  for (const daemon of withRole(world, role)) await daemon.kill()
  const { roles, ...options } = started
  return world.start(roles, options)
}

/** Waits until a process has killed itself, which only a failpoint makes it do. */
export async function untilDead(daemon: DaemonProcess, where: string): Promise<void> {
  await until(`${daemon.name} came to ${where}`, () => (daemon.isRunning() ? null : true))
  const status = await daemon.ended
  if (status !== null) throw new Error(`${daemon.name} ended with ${status}, not by ${where}`)
}

/** Whether a process stands still, as SIGSTOP makes it. */
export function isStopped({ pid }: Pick<DaemonProcess, 'pid'>): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program is in parentheses, and may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 1).startsWith(' T')
}
