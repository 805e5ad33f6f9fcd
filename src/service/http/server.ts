import type { Logger } from 'pino'
import { tell } from '../../log/tell.ts'
import { keepApiKey } from '../api-keys.ts'
import type { DepositServiceSettings } from '../settings.ts'
import type { ServiceDatabase } from '../tables.ts'
import { openVault } from '../webhooks/secret-vault.ts'
import { openAuthentication } from './authentication.ts'
import { createHandler } from './handler.ts'
import { listen } from './listen.ts'
import type { Api } from './route.ts'
import { routes } from './routes.ts'
import { isExposed } from './server-settings.ts'

type ServerParts = { settings: DepositServiceSettings; log: Logger } & Omit<Api, 'networks' | 'webhooks'>

export type RunningServer = { url: string; stop(): Promise<void> }

/** Serves the API. The keys of the settings may call from then on, unless they were revoked. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { settings, log, ...api } = parts
  if (isExposed(settings)) tell(log, 'service_without_tls', { host: settings.host })
  await keepGivenKeys(api.db, settings)
  const webhooks = { vault: openVault(settings.seed), allowPrivate: settings.allowPrivateWebhooks }
  const stopping = new AbortController()
  const handler = createHandler({
    api: { ...api, networks: settings.networks, webhooks },
    routes,
    authenticate: openAuthentication(api.db, settings.rateLimit),
    stopping: stopping.signal,
    log,
  })
  const listening = await listen(handler, settings)
  return {
    url: listening.url,
    stop: () => {
      stopping.abort()
      return listening.stop()
    },
  }
}

async function keepGivenKeys(db: ServiceDatabase, { apiKeys }: DepositServiceSettings): Promise<void> {
  await Promise.all(apiKeys.map(({ key, scope }) => keepApiKey(db, { key, scope, name: 'settings' })))
}
