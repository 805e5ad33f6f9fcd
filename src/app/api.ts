import { type ReadServerSettings, startReadServer } from '../api/server.ts'
import type { Settings } from '../config/settings.ts'
import { readRegister } from '../jobs/people/decide.ts'
import { mentionsIn } from '../jobs/people/mentions.ts'
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
const [readPoolMax, smallPoolMax] = [6, 2]
const statementMaxMs = 5000

function openApiLogins(url: string) {
  const login = { url, poolMax: smallPoolMax, queryTimeoutMs: statementMaxMs }
  const db = openDatabase<Tables>({
    url,
    poolMax: readPoolMax,
    applicationName: 'depositd API',
    role: 'depositd_viewer',
    readOnlyWithinMs: statementMaxMs,
    queryTimeoutMs: statementMaxMs + 1000,
  })
  const tokens = openDatabase<Tables>({
    ...login,
    applicationName: 'depositd API tokens',
    role: 'depositd_daemon',
  })
  const operator = openDatabase<Tables>({
    ...login,
    applicationName: 'depositd API cases',
    role: 'depositd_operator',
  })
  const all = [db, tokens, operator]
  return {
    db,
    tokens,
    operator,
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((one) => one.destroy()))
    },
  }
}

/** Null if the settings name no port. */
export async function composeApi(
  settings: Settings,
  { version, services, readiness, observer, limit }: ApiDeps,
): Promise<{ url: string; stop: () => Promise<void> } | null> {
  if (settings.api === null) return null
  await using starting = new AsyncDisposableStack()
  const { db, tokens, operator } = starting.use(openApiLogins(settings.databaseUrl))
  const { administratorKey: pinned } = settings.people
  const current = () => ({ ...settings, ...services.followed() })
  const server = await startReadServer({
    ...settings.api,
    limit,
    report: observer.api,
    findToken: (text) => findApiToken(tokens, text),
    sources: {
      db,
      operator,
      mentionsIn: (tx, text) => mentionsIn(tx, pinned, text),
      async personNamed(tx, name) {
        const { people } = await readRegister(tx, pinned)
        return people.get(name.toLowerCase())?.person ?? null
      },
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
