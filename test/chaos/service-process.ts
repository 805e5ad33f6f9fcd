import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ServiceFaults } from './service-faults.ts'
import type { ServiceAddresses, ServiceOrders } from './service-main.ts'

export type ServiceProcess = {
  readonly pid: number
  readonly url: string
  readonly faults: ServiceFaults
  kill: () => Promise<void>
}

/** Starts the deposit service as a process of its own. */
export async function startServiceProcess(orders: ServiceOrders): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'service-main.ts')], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  child.send(orders)
  const started = await Promise.race([once(child, 'message'), ended.then(() => null)])
  if (started === null) throw new Error('the deposit service ended at its start')
  const [{ url, faultsUrl }] = started as [ServiceAddresses]
  return { pid: child.pid ?? 0, url, faults: switchesAt(faultsUrl), kill }
}

function switchesAt(url: string): ServiceFaults {
  const turn = async (method: 'PATCH' | 'PUT', settings: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method, headers, body: JSON.stringify(settings) })
    const answer = await response.text()
    if (!response.ok) throw new Error(`the service does not take ${JSON.stringify(settings)}: ${answer}`)
  }
  return { set: (rates) => turn('PATCH', rates), clear: () => turn('PUT', {}) }
}
