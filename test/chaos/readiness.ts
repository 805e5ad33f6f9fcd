import { until } from '../support/until.ts'
import type { DaemonProcess } from './world.ts'

export type Ready = { status: number; unready: readonly string[]; warned: readonly string[] }

type Reported = Record<'unready' | 'warnings', { part: string; problem: string }[]>

/** What a process says of itself; null where it does not answer. */
export async function readinessOf({ opsUrl }: Pick<DaemonProcess, 'opsUrl'>): Promise<Ready | null> {
  try {
    const response = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(10_000) })
    const { unready, warnings } = (await response.json()) as Reported
    const words = (problems: Reported['unready']) =>
      problems.map(({ part, problem }) => `${part}: ${problem}`)
    return { status: response.status, unready: words(unready), warned: words(warnings) }
  } catch {
    return null
  }
}

/** Waits until each says that it is not ready, for a reason that names that part. */
export async function untilUnready(daemons: readonly DaemonProcess[], part: string): Promise<void> {
  for (const daemon of daemons) {
    await until(`${daemon.name} says that its ${part} is not ready`, async () => {
      const ready = await readinessOf(daemon)
      return ready?.status === 503 && ready.unready.some((one) => one.startsWith(`${part}:`)) ? ready : null
    })
  }
}

/** Waits until each is ready again. */
export async function untilReady(daemons: readonly DaemonProcess[]): Promise<void> {
  for (const daemon of daemons) {
    await until(`${daemon.name} is ready again`, async () => {
      const ready = await readinessOf(daemon)
      return ready?.status === 200 ? ready : null
    })
  }
}
