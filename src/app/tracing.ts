import type { Logger } from 'pino'
import { redactorOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { logEvent } from '../log/log-event.ts'
import { noTracing, type TraceRecorder } from '../ops/tracing/tracing.ts'
import type { Database } from '../store/database.ts'
import { traceparentsOf } from '../store/inbox.ts'
import type { Tables } from '../store/tables.ts'

type AppTracingDeps = { db: Database<Tables>; log: Logger; version: string }

/** Without a collector, OpenTelemetry is not even loaded. */
export async function composeTracing(
  settings: Settings,
  { db, log, version }: AppTracingDeps,
): Promise<TraceRecorder> {
  const { tracing } = settings
  if (tracing === null) return noTracing
  const { startTracing } = await import('../ops/tracing/otlp-tracing.ts')
  logEvent(log, 'tracing_started', { collector: new URL(tracing.url).host, ratio: tracing.ratio })
  return startTracing(tracing, {
    version,
    hide: redactorOf(settings).hide,
    traceparentsOf: (ids) => traceparentsOf(db, ids),
    onLost: (error) => logEvent(log, 'traces_not_sent', { err: error }),
  })
}
