import { resolve } from 'node:path'
import type { FaultSettings } from '../service/faults/faults.ts'
import type { DepositService } from '../service/service.ts'
import { databases, type GroundSettings, startGround } from './ground.ts'
import type { SandboxNetwork } from './local-networks.ts'
import { startSandboxService } from './sandbox-service.ts'
import { sandboxSecrets } from './secrets.ts'
import { type ServiceFiles, writeServiceFiles } from './service-files.ts'
import { timed } from './started-part.ts'

export type ServiceAloneSettings = GroundSettings & {
  port?: number
  /** Null allows none. */
  faults: FaultSettings | null
  /** Where faults are switched. */
  adminPort?: number
}

export type ServiceAlone = {
  service: DepositService
  networks: readonly SandboxNetwork[]
  /** Absolute paths of the files that hold its keys. */
  keyFiles: ServiceFiles
  databaseUrl: string
  stop(): Promise<void>
}

/**
 * Starts the deposit service with everything it needs on this machine, and nothing else.
 * @throws Fault `usage_bad` where another process works in the folder; `remote_failed` where a part does not start.
 */
export async function startServiceAlone(settings: ServiceAloneSettings): Promise<ServiceAlone> {
  const { folder, onPart, ...asked } = settings
  await using starting = new AsyncDisposableStack()
  const { postgres, chains } = await startGround(settings, starting)
  const { networks } = chains
  const secrets = sandboxSecrets(folder)
  const databaseUrl = postgres.url(databases.service)
  const service = await timed(onPart, 'service', async () => {
    const part = await startSandboxService({ ...asked, networks, secrets, databaseUrl, webhooks: [] })
    starting.defer(() => part.stop())
    return { part, address: part.url }
  })
  const place = { url: service.url, databaseUrl, adminUrl: service.faultsUrl, networks, secrets }
  const keyFiles = writeServiceFiles(resolve(folder), place)
  const running = starting.move()
  return { service, networks, keyFiles, databaseUrl, stop: () => running.disposeAsync() }
}
