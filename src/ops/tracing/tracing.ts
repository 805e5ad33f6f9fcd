import type { Observer } from '../observe.ts'
import type { AppliedTrail } from '../tell-applied.ts'

export type TracedRpcRequest = {
  network: string
  node: string
  method: string
  outcome: string
  seconds: number
}

type TracedWebhookArrival = { sourceKey: string; traceparent: string | undefined; startedAt: number }
type WebhookArrivalTrace = { traceId: string; traceparent: string; end: (outcome: string) => void }

/** What is traced. Spans are made of what happened once it has happened, so that nothing waits for them. */
export type TraceRecorder = {
  /** Begins the trace of a webhook, or goes on with that of its sender; null where it is not sampled. */
  webhook: (arriving: TracedWebhookArrival) => WebhookArrivalTrace | null
  /** Runs a job in a span of its own, to which all that it asks of others belongs. */
  job: <Result>(job: { name: string; key: string }, work: () => Promise<Result>) => Promise<Result>
  /** Goes on with the trace of each webhook: its row was applied, a deposit decided, journals posted. */
  applied: (batch: AppliedTrail) => void
  rpc: (request: TracedRpcRequest) => void
  apiRequest: (outcome: string) => void
  /** Sends what is left. */
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
  /** The traces in which rows of the inbox came in. */
  traceparentsOf: (ids: readonly bigint[]) => Promise<ReadonlyMap<bigint, string>>
  /** Takes secrets out of what was thrown, as the log does: a collector belongs to others. */
  hide: (text: string) => string
  /** What kept traces from being sent. They are dropped. */
  onLost: (error: unknown) => void
}

type TracedJobHandlers = Readonly<Record<string, (key: string) => Promise<void>>>

/** Each run of a job in a span. */
export function traceJobs(tracing: TraceRecorder, jobs: TracedJobHandlers): TracedJobHandlers {
  return Object.fromEntries(
    Object.entries(jobs).map(([name, run]) => [
      name,
      (key: string) => tracing.job({ name, key }, () => run(key)),
    ]),
  )
}

/** The same observer, which also traces what it is told. */
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
    pollRequest(outcome) {
      observer.pollRequest(outcome)
      tracing.apiRequest(outcome)
    },
  }
}
