import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { DepositServiceSettings } from '../../src/service/settings.ts'

/** The service as a process of its own, so that it can be killed. */
export type ChildService = {
  url: string
  /** As a power failure does: nothing of it runs any more. */
  kill(): Promise<void>
}

export async function startChildService(settings: DepositServiceSettings): Promise<ChildService> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'service-process.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(settings))
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { url, kill: () => kill(child) }
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
