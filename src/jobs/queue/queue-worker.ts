import { createWatchdog } from '../watchdog.ts'
import type { Backend, QueueSettings, RunningWorker, Runs, Wake } from './queue-port.ts'

/** What to run for each name; given the key of the wake-up. Must be safe to run twice. */
export type QueueJobHandlers = Readonly<Record<string, (key: string) => Promise<void>>>

type QueueWorkerOptions = { handlers: QueueJobHandlers; concurrency: number }

/** Runs a worker and replaces it where it takes nothing although work waits. */
export function keepWorking(
  backend: Backend,
  settings: QueueSettings,
  working: QueueWorkerOptions,
): RunningWorker {
  const { limits, report } = settings
  const runs = countRuns(working.handlers)
  let worker = backend.startWorker(runs, working.concurrency)
  const replaced = new Set<Promise<void>>()

  const check = createWatchdog({
    progress: runs.progress,
    busy: () => runs.active() >= working.concurrency,
    waiting: async () => (await backend.counts()).waiting,
    replace: () => {
      report({ kind: 'worker_replaced' })
      const stopped = worker.stop()
      replaced.add(stopped)
      void stopped.finally(() => replaced.delete(stopped))
      worker = backend.startWorker(runs, working.concurrency)
    },
  })
  // If the server does not even answer how much waits, the connection's own events tell of it.
  const look = () => Promise.all([check(), backend.keepUp()]).catch(() => undefined)
  const timer = setInterval(() => void look(), limits.stuckMs / 3)

  return {
    async stop() {
      clearInterval(timer)
      await Promise.all([worker.stop(), ...replaced])
    },
  }
}

function countRuns(handlers: QueueJobHandlers): Runs {
  let begun = 0
  let ended = 0
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  async function run({ name, key }: Wake): Promise<void> {
    if (begun++ === ended) idle = Promise.withResolvers()
    try {
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
      if (handler === undefined) throw new Error(`no handler for ${name}`)
      await handler(key)
    } finally {
      if (begun === ++ended) idle.resolve()
    }
  }
  return { run, active: () => begun - ended, progress: () => begun + ended, idle: () => idle.promise }
}
