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
  /** Null disables faults. */
  faults: FaultSettings | null
  /** Port of the server that switches faults. */
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
 * Starts the deposit service and its dependencies on this machine, without depositd.
 * @throws Fault `usage_bad` if another process uses the folder, `remote_failed` if a component does not start
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
