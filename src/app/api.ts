import { type ReadServerSettings, startReadServer } from '../api/server.ts'
import type { Settings } from '../config/settings.ts'
import { createReadiness, type Readiness } from '../ops/readiness.ts'
import { findApiToken } from '../store/api-tokens.ts'
import { openDatabase } from '../store/database.ts'
import { recordAccess } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import { readBundle } from './console-downloads.ts'
import { createBundleMaker } from './evidence-bundle.ts'
import type { Services } from './services.ts'

type ApiDeps = {
  version: string
  services: Pick<Services, 'followed'>
  readiness: Readiness
  observer: { api: ReadServerSettings['report'] }
  limit?: ReadServerSettings['limit']
}

/** Pools of its own, so that callers never take connections from workers. */
const [readPoolMax, tokenPoolMax] = [6, 2]
const statementMaxMs = 5000

/** Null if the settings name no port. */
export async function composeApi(
  settings: Settings,
  { version, services, readiness, observer, limit }: ApiDeps,
): Promise<{ url: string; stop: () => Promise<void> } | null> {
  if (settings.api === null) return null
  await using starting = new AsyncDisposableStack()
  const db = openDatabase<Tables>({
    url: settings.databaseUrl,
    poolMax: readPoolMax,
    applicationName: 'depositd API',
    role: 'depositd_viewer',
    readOnlyWithinMs: statementMaxMs,
    queryTimeoutMs: statementMaxMs + 1000,
  })
  starting.defer(() => db.destroy())
  const tokens = openDatabase<Tables>({
    url: settings.databaseUrl,
    poolMax: tokenPoolMax,
    applicationName: 'depositd API tokens',
    role: 'depositd_daemon',
    queryTimeoutMs: statementMaxMs,
  })
  starting.defer(() => tokens.destroy())
  const current = () => ({ ...settings, ...services.followed() })
  const server = await startReadServer({
    ...settings.api,
    limit,
    report: observer.api,
    findToken: (text) => findApiToken(tokens, text),
    sources: {
      db,
      services: () => current().services,
      networks: settings.networks,
      health: createReadiness(readiness),
      bundle: (id) => readBundle(db, id, createBundleMaker(current(), version)),
      bundleTaken: (id, { name }) =>
        recordAccess(tokens, {
          person: null,
          action: 'bundle_made',
          detail: `deposit ${id}, by the token ${name}`,
        }),
    },
  })
  starting.defer(() => server.stop())
  const running = starting.move()
  return { url: server.url, stop: () => running.disposeAsync() }
}
