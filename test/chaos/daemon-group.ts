import { freePort } from '../../src/sandbox/free-port.ts'
import { until } from '../support/until.ts'
import { spawnDaemon } from './daemon-process.ts'
import type { DaemonOptions, DaemonProcess } from './world.ts'

/** The program's processes of one world. */
export type DaemonGroup = {
  all: () => readonly DaemonProcess[]
  start: (roles: string, options?: DaemonOptions) => Promise<DaemonProcess>
  /** Ends what a fault added, armed or set otherwise, and starts what is missing. */
  restore: () => Promise<void>
  /** Where the newest process listens that takes webhooks, and has the API. */
  portOf: (setting: 'HTTP_PORT' | 'API_PORT') => number
  end: () => Promise<void>
}

export const usualRoles = ['http', 'worker,scheduler', 'worker,scheduler'] as const

const upWithinMs = 180_000
const stopWithinMs = 20_000

type Member = { daemon: DaemonProcess; environment: Readonly<Record<string, string>>; isUsual: boolean }

export function createDaemonGroup(
  environment: Readonly<Record<string, string>>,
  folder: string,
): DaemonGroup {
  let members: Member[] = []
  let count = 0
  const start = async (roles: string, options: DaemonOptions = {}): Promise<DaemonProcess> => {
    const [http, ops, api] = await Promise.all([freePort(), freePort(), freePort()])
    const ports = { HTTP_PORT: `${http}`, OPS_PORT: `${ops}`, API_PORT: `${api}` }
    const whole = { ...environment, ...ports, ...options.environment }
    const name = `${roles.split(',')[0]} ${++count}`
    const daemon = spawnDaemon({ ...options, name, roles, environment: whole, folder })
    const isUsual = Object.keys(options).length === 0
    members.push({ daemon, environment: whole, isUsual })
    await untilUp(daemon)
    if (isUsual && isOfWorld(roles) && !daemon.isRunning())
      throw new Error(`${name} ended at its start: ${daemon.output().slice(-2000)}`)
    return daemon
  }
  const restore = async () => {
    const kept = keepUsual(members)
    const rest = members.filter((member) => !kept.includes(member))
    members = kept
    await Promise.all(rest.map(({ daemon }) => endGently(daemon)))
    const missing = rolesMissing(kept.map(({ daemon }) => daemon.roles))
    for (const { daemon } of kept) {
      daemon.signal('SIGCONT')
      await daemon.setClock(0)
    }
    await Promise.all(missing.map((roles) => start(roles)))
  }
  return {
    all: () => members.map(({ daemon }) => daemon),
    start,
    restore,
    portOf(setting) {
      const newest = members.findLast(({ daemon }) => daemon.roles.includes('http') && daemon.isRunning())
      return Number(newest?.environment[setting] ?? 0)
    },
    end: () => Promise.all(members.map(({ daemon }) => daemon.kill())).then(() => undefined),
  }
}

const isOfWorld = (roles: string): boolean => usualRoles.some((one) => one === roles)

/** As many of those that run, and were started as usual, as there are to be of each. */
function keepUsual(members: readonly Member[]): Member[] {
  const left: string[] = [...usualRoles]
  return members.filter(({ daemon, isUsual }) => {
    const place = left.indexOf(daemon.roles)
    if (place < 0 || !isUsual || !daemon.isRunning()) return false
    left.splice(place, 1)
    return true
  })
}

function rolesMissing(present: readonly string[]): string[] {
  const left = [...present]
  return usualRoles.filter((roles) => {
    const place = left.indexOf(roles)
    if (place >= 0) left.splice(place, 1)
    return place < 0
  })
}

async function untilUp(daemon: DaemonProcess): Promise<void> {
  const isUp = () => daemon.output().includes('"daemon_started"') || !daemon.isRunning() || null
  await until(`${daemon.name} works`, isUp, upWithinMs).catch((error: unknown) => {
    throw new Error(`${daemon.name} did not start: ${daemon.output().slice(-2000)}`, { cause: error })
  })
}

/** What does not end by itself is a fault of the program, but not the one that is being looked for. */
async function endGently(daemon: DaemonProcess): Promise<void> {
  if (!daemon.isRunning()) return
  const killing = setTimeout(() => void daemon.kill(), stopWithinMs)
  await daemon.stop()
  clearTimeout(killing)
}
