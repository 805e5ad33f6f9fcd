import { redactorOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { lineOf } from '../core/errors.ts'
import { defaultService } from '../core/evidence.ts'
import {
  type ComponentHealth,
  judgeDatabase,
  judgeVitals,
  type Role,
  schedulerStream,
  workerStream,
} from '../health.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { expectedStreams } from '../jobs/schedule.ts'
import { answerMaxMs, type Readiness } from '../ops/readiness.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { migrationsFolder, migrationsIn } from '../store/migrate.ts'
import { readUnsent } from '../store/notifications.ts'
import { readHealth } from '../store/server-facts.ts'
import type { Tables } from '../store/tables.ts'
import { judgeNotifications } from './notifications.ts'
import type { Services } from './services.ts'

type ReadinessDeps = { roles: readonly Role[]; queue: Queue; services: Services }

export async function composeReadiness(
  settings: Settings,
  { roles, queue, services }: ReadinessDeps,
): Promise<Readiness & AsyncDisposable> {
  const startedAt = Date.now()
  const vitals = createVitalsReader(settings.databaseUrl)
  const streamsNow = () => expectedStreams({ ...settings, services: services.followed().services })
  const migrations = await migrationsIn(migrationsFolder)
  const { hide } = redactorOf(settings)
  return {
    checks: hideProblems(hide, [
      {
        part: 'database',
        async ask() {
          const waited = (Date.now() - startedAt) / 1000
          const reported = await vitals.read(readHealth)
          const unsent = settings.notifications === null ? [] : await vitals.read(readUnsent)
          return [
            judgeDatabase(reported),
            ...judgeNotifications(settings, unsent),
            ...judgeVitals(reported, { migrations, streams: streamsNow(), waited }),
          ]
        },
      },
      {
        part: 'queue',
        async ask() {
          const danger = await queue.ping()
          return [judgeQueue(danger)]
        },
      },
      { part: 'webhooks', ask: () => Promise.resolve(judgeWebhooks(services)) },
    ]),
    isNeeded: (part) => neededBy(roles, [...streamsNow().keys()]).has(part),
    [Symbol.asyncDispose]: vitals.stop,
  }
}

/** Lost wake-ups only cause delay, so this is never a failure. */
function judgeQueue(danger: string | null): ComponentHealth {
  const part = 'queue'
  return danger === null ? { part, state: 'fine', says: 'answers' } : { part, state: 'warning', says: danger }
}

/** Servers and libraries may put a password in a message. */
function hideProblems(hide: (text: string) => string, checks: Readiness['checks']): Readiness['checks'] {
  const shown = (error: unknown): never => {
    throw new Error(hide(lineOf(error)), { cause: error })
  }
  return checks.map(({ part, ask }) => ({ part, ask: () => ask().catch(shown) }))
}

/**
 * A process that takes webhooks stays ready without workers: deliveries are stored and applied later. A proxy that took
 * all such processes out of service would lose them.
 */
function neededBy(roles: readonly Role[], streams: readonly string[]): ReadonlySet<string> {
  const beside: Record<Role, readonly string[]> = {
    http: [],
    worker: ['queue', 'inbox', workerStream, ...streams],
    scheduler: ['queue', schedulerStream],
  }
  const judged = roles.includes('http') ? [] : roles
  return new Set(['database', 'schema', ...judged.flatMap((role) => beside[role])])
}

function judgeWebhooks(services: Services): ComponentHealth[] {
  const open = services
    .followed()
    .services.flatMap(({ name, webhooks }) => (webhooks.signing.scheme === 'none' ? [name] : []))
  if (open.length === 0) return []
  const of = open.every((name) => name === defaultService) ? '' : ` of ${open.join(', ')}`
  const says = `accepted without a signature: webhooks.scheme${of} is none`
  return [{ part: 'webhooks', state: 'warning', says }]
}

/** Outside the working pool, so that the check succeeds when the pool is busy. */
function createVitalsReader(url: string) {
  const open = () =>
    openDatabase<Tables>({
      url,
      poolMax: 1,
      applicationName: 'depositd health',
      role: 'depositd_daemon',
      queryTimeoutMs: answerMaxMs,
    })
  let db = open()
  return {
    async read<Result>(ask: (from: Database<Tables>) => Promise<Result>): Promise<Result> {
      try {
        return await ask(db)
      } catch (error) {
        // A hanging connection would block the next check too, and takes long to close.
        void db.destroy().catch(() => undefined)
        db = open()
        throw error
      }
    },
    stop: () => db.destroy(),
  }
}
