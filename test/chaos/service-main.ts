import { once } from 'node:events'
import { pino } from 'pino'
import { openNetwork } from '../../src/sandbox/local-networks.ts'
import { startSandboxService } from '../../src/sandbox/sandbox-service.ts'
import type { SandboxSecrets } from '../../src/sandbox/service-files.ts'
import { harmless } from '../../src/service/faults/faults.ts'

/** What the service needs to know; it comes as the first message. */
export type ServiceOrders = {
  networks: readonly { name: string; url: string }[]
  secrets: SandboxSecrets
  databaseUrl: string
  webhookUrl: string
}

/** Where it is, and where its errors are switched. */
export type ServiceAddresses = { url: string; faultsUrl: string }

// The deposit service as a process of its own, with no error until one is switched on. It ends with whoever started it.
const [orders] = (await once(process, 'message')) as [ServiceOrders]
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
const { networks, secrets, databaseUrl, webhookUrl } = orders
const service = await startSandboxService({
  networks: await Promise.all(networks.map(({ name, url }) => openNetwork(name, url))),
  secrets,
  databaseUrl,
  webhooks: [{ url: webhookUrl, secret: secrets.webhookSecret }],
  faults: harmless,
  port: 0,
  adminPort: 0,
  log: pino({ level: 'silent' }),
})
process.send?.({ url: service.url, faultsUrl: service.faultsUrl ?? '' } satisfies ServiceAddresses)
