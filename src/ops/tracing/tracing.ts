import type { AppliedTrail } from '../log-trail.ts'
import type { Observer } from '../observe.ts'

type TracedWebhookArrival = { sourceKey: string; traceparent: string | undefined; startedAt: number }
type WebhookArrivalTrace = { traceId: string; traceparent: string; end: (outcome: string) => void }

/** Spans are created after the fact, so that no work waits for them. */
export type TraceRecorder = {
  /** Null if the trace is not sampled. */
  webhook: (arriving: TracedWebhookArrival) => WebhookArrivalTrace | null
  /** The job's span contains all its outbound requests. */
  job: <Result>(job: { name: string; key: string }, work: () => Promise<Result>) => Promise<Result>
  applied: (batch: AppliedTrail) => void
  rpc: Observer['rpc']
  apiRequest: (outcome: string) => void
  stop: () => Promise<void>
}

export type TraceExportSettings = {
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  ratio: number
}

export type TracingDeps = {
  version: string
  traceparentsOf: (ids: readonly bigint[]) => Promise<ReadonlyMap<bigint, string>>
  /** Redacts secrets in errors: a collector may belong to a third party. */
  hide: (text: string) => string
  /** Traces that could not be sent are dropped. */
  onLost: (error: unknown) => void
}

type TracedJobHandlers = Readonly<Record<string, (key: string) => Promise<void>>>

export function traceJobs(tracing: TraceRecorder, jobs: TracedJobHandlers): TracedJobHandlers {
  return Object.fromEntries(
    Object.entries(jobs).map(([name, run]) => [
      name,
      (key: string) => tracing.job({ name, key }, () => run(key)),
    ]),
  )
}

export function traceObserved(tracing: TraceRecorder, observer: Observer): Observer {
  return {
    ...observer,
    applied(batch) {
      observer.applied(batch)
      tracing.applied(batch)
    },
    rpc(request) {
      observer.rpc(request)
      tracing.rpc(request)
    },
    pollRequest(service, outcome) {
      observer.pollRequest(service, outcome)
      tracing.apiRequest(outcome)
    },
  }
}

export const noTracing: TraceRecorder = {
  webhook: () => null,
  job: (_job, work) => work(),
  applied: () => undefined,
  rpc: () => undefined,
  apiRequest: () => undefined,
  stop: () => Promise.resolve(),
}
