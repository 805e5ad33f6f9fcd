import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { createInboxWriter, writerLimits } from '../intake/inbox-writer.ts'
import { createQuarantine, quarantineLimits } from '../intake/quarantine.ts'
import { type Intake, intakeLimits, startIntake } from '../intake/server.ts'
import { throttleRuns } from '../jobs/queue/limit-runs.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { logEvent } from '../log/log-event.ts'
import { reportNotStored, reportStored } from '../ops/log-trail.ts'
import type { Observer } from '../ops/observe.ts'
import type { TraceRecorder } from '../ops/tracing/tracing.ts'
import type { Database } from '../store/database.ts'
import { keepQuarantined } from '../store/quarantine.ts'
import type { Tables } from '../store/tables.ts'
import { storeWebhooks } from '../store/webhooks.ts'
import { composeWrite } from './canary.ts'
import type { Services } from './services.ts'

/** A wake-up costs as much as several webhooks, and covers every webhook that arrived meanwhile. */
const wakeEveryMs = 20

/** Of deliveries that fail verification. */
const quarantineBounds = { rowsMax: 10_000, bytesMax: 64_000_000 }

type AppIntakeDeps = {
  db: Database<Tables>
  queue: Queue
  observer: Observer
  log: Logger
  services: Services
  tracing: TraceRecorder
}

export async function composeIntake(
  settings: Settings,
  { db, queue, observer, log, services, tracing }: AppIntakeDeps,
): Promise<Intake> {
  const writer = createInboxWriter({
    async store(rows) {
      const stored = await storeWebhooks(db, rows)
      observer.mismatches(stored.mismatches)
      reportStored(log, rows, stored)
      return stored.outcomes
    },
    ...writerLimits,
  })
  const quarantine = createQuarantine({
    store: (rows) => keepQuarantined(db, rows, quarantineBounds),
    limits: quarantineLimits,
    onDropped: observer.quarantineDropped,
    onError: (error) => logEvent(log, 'quarantine_not_stored', { err: error }),
  })
  // The sweep makes up for a failed wake-up.
  const wakeUps = throttleRuns(wakeEveryMs, () =>
    queue.wake('apply').catch((error: unknown) => observer.jobFailed('apply', error)),
  )
  const intake = await startIntake({
    ...settings.http,
    ...settings.intake,
    limits: intakeLimits,
    admissionOf: (name) => services.open().get(name)?.admission,
    write: composeWrite(settings, db, writer.write),
    trace: tracing.webhook,
    quarantine: quarantine.keep,
    now: () => new Date(),
    observe: observer.webhook,
    onStored: wakeUps.ask,
    onError: reportNotStored(log),
  })
  return {
    url: intake.url,
    async stop() {
      await intake.stop()
      await wakeUps.stop()
      await quarantine.stop()
    },
  }
}
