import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import type { CrowdOrder, CrowdReported } from './crowd-process.ts'
import type { IntakeProcess } from './target.ts'

export type Crowd = AsyncDisposable & {
  reported: () => CrowdReported
  /** Waits until what is told is so. */
  until: (what: string, is: (reported: CrowdReported) => boolean) => Promise<void>
}

type Ordering = Partial<CrowdOrder> & { count: number }

const program = join(import.meta.dirname, 'crowd-process.ts')
/** Silent ones are given up after ten seconds, and a busy machine takes its time. */
const withinMs = 120_000

/** Connections of strangers, from a process of their own. */
export async function gather({ from }: IntakeProcess, ordering: Ordering): Promise<Crowd> {
  const { host, port } = from('127.0.0.2')
  const order: CrowdOrder = {
    host,
    port,
    addresses: ['127.0.0.2'],
    first: '',
    drip: '',
    dripEveryMs: 500,
    isStubborn: false,
    ...ordering,
  }
  const child = fork(program, [JSON.stringify(order)])
  let newest: CrowdReported = { opened: 0, open: 0, closed: 0, answered: {} }
  child.on('message', (reported: CrowdReported) => {
    newest = reported
  })
  const ended = once(child, 'exit')
  const waiting = (what: string, is: (reported: CrowdReported) => boolean) =>
    until(what, () => (is(newest) ? true : null), withinMs).then(() => undefined)
  await waiting(
    'every connection of the crowd was tried',
    ({ opened, closed }) => Math.max(opened, closed) >= order.count,
  )
  return {
    reported: () => newest,
    until: waiting,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
