import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { programEnvironment } from '../../support/program-environment.ts'
import { recordProcess } from '../leftover.ts'
import { readCredits } from './credits.ts'

/** The consumer of docs/examples, which credits customers in a database of its own. */
export type ConsumerProcess = {
  credits: () => ReturnType<typeof readCredits>
  kill: () => Promise<void>
  /** On what it stored, unless it runs. @throws where it ended by itself, which no event makes it do */
  start: () => void
}

const program = join(import.meta.dirname, '../../../docs/examples/credit-consumer.ts')

export function startConsumer(folder: string, api: { url: string; token: string }): ConsumerProcess {
  const file = join(folder, 'credits.db')
  const env = { ...programEnvironment, API: api.url, TOKEN: api.token }
  let child: ChildProcess | null = null
  let printed = ''
  const consumer = {
    credits: () => readCredits(file),
    async kill() {
      const running = child
      child = null
      if (running === null || running.exitCode !== null) return
      const ended = once(running, 'exit')
      running.kill('SIGKILL')
      await ended
    },
    start() {
      if (child !== null && child.exitCode !== null) throw new Error(`the consumer ended: ${printed}`)
      if (child !== null) return
      child = spawn(process.execPath, [program, file], { env, stdio: ['ignore', 'ignore', 'pipe'] })
      child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
      if (child.pid !== undefined) recordProcess(folder, child.pid)
    },
  }
  consumer.start()
  return consumer
}
