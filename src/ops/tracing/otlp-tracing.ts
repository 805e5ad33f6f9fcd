import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { Fault, messageOf, shorten } from '../../core/errors.ts'
import type { AppliedTrail } from '../log-trail.ts'
import { traceBatch } from './trace-batch.ts'
import type { TraceExportSettings, TraceRecorder, TracingDeps } from './tracing.ts'

/** Further batches are not traced. */
const lookupsMax = 8
/** The log has more of the message. */
const statusMax = 1000

/** This file is only loaded if a collector is set. */
export function startTracing(settings: TraceExportSettings, deps: TracingDeps): TraceRecorder {
  const { tracer, stop } = openExport(settings, deps)
  const running = new AsyncLocalStorage<Context>()
  const batches = followBatches(tracer, deps)
  return {
    webhook: (arriving) => traceWebhook(tracer, arriving),
    job: ({ name, key }, work) => {
      const attributes = key === '' ? {} : { 'depositd.key': key }
      const span = tracer.startSpan(`job ${name}`, { kind: SpanKind.CONSUMER, attributes }, ROOT_CONTEXT)
      return running.run(trace.setSpan(ROOT_CONTEXT, span), () => endWith(span, work, deps.hide))
    },
    applied: (batch) => batches.applied(batch, running.getStore() ?? ROOT_CONTEXT),
    rpc({ network, node, method, outcome, seconds }) {
      const context = running.getStore()
      if (context === undefined) return
      const attributes: Attributes = {
        'depositd.network': network,
        'depositd.node': node,
        'depositd.outcome': outcome,
      }
      const startTime = performance.timeOrigin + performance.now() - seconds * 1000
      tracer.startSpan(`rpc ${method}`, { kind: SpanKind.CLIENT, startTime, attributes }, context).end()
    },
    apiRequest(outcome) {
      const context = running.getStore()
      if (context !== undefined) trace.getSpan(context)?.addEvent('request to the service', { outcome })
    },
    async stop() {
      await batches.finish()
      await stop()
    },
  }
}

function traceWebhook(
  tracer: Tracer,
  { sourceKey, traceparent, startedAt }: Parameters<TraceRecorder['webhook']>[0],
): ReturnType<TraceRecorder['webhook']> {
  const parent = contextOf(parseTraceparent(traceparent)) ?? ROOT_CONTEXT
  const attributes = { 'depositd.webhook': sourceKey }
  const options = { kind: SpanKind.SERVER, startTime: startedAt, attributes }
  const span = tracer.startSpan('webhook', options, parent)
  if (!span.isRecording()) return null
  const storing = tracer.startSpan('store', {}, trace.setSpan(parent, span))
  const { traceId, spanId } = span.spanContext()
  return {
    traceId,
    traceparent: writeTraceparent({ traceId, spanId, isSampled: true }),
    end(outcome) {
      storing.end()
      span.setAttribute('depositd.outcome', outcome).end()
    },
  }
}

function followBatches(tracer: Tracer, { traceparentsOf, onLost }: TracingDeps) {
  const lookups = new Set<Promise<void>>()
  let untraced = 0
  const reportUntraced = (): void => {
    const problem = `${untraced} batches have no spans: ${lookupsMax} others were still looked up`
    if (untraced > 0) onLost(new Fault('remote_failed', { what: 'tracing batches', problem }))
    untraced = 0
  }
  const follow = async (batch: AppliedTrail, context: Context): Promise<void> => {
    const ids = [...batch.taken.map(({ id }) => id), ...batch.trails.flatMap(bookedRows)]
    const found = await traceparentsOf([...new Set(ids)])
    traceBatch(tracer, batch, { context, contextOf: (id) => contextOf(parseTraceparent(found.get(id))) })
  }
  return {
    applied(batch: AppliedTrail, context: Context): void {
      if (batch.rows + batch.journals === 0) return
      if (lookups.size >= lookupsMax) {
        untraced++
        return
      }
      const lookup = follow(batch, context).catch(onLost)
      lookups.add(lookup)
      void lookup.finally(() => {
        lookups.delete(lookup)
        reportUntraced()
      })
    },
    finish: () => Promise.all(lookups),
  }
}

/** These may have arrived before this batch. */
function bookedRows({ journals, webhooks }: AppliedTrail['trails'][number]): readonly bigint[] {
  return journals.length === 0 ? [] : webhooks
}

function contextOf(place: TracePlace | null): Context | null {
  if (place === null) return null
  const { traceId, spanId, isSampled } = place
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

async function endWith<Result>(
  span: Span,
  work: () => Promise<Result>,
  hide: TracingDeps['hide'],
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: shorten(hide(messageOf(error)), statusMax) })
    throw error
  } finally {
    span.end()
  }
}

/** By https://www.w3.org/TR/trace-context/. */
type TracePlace = { traceId: string; spanId: string; isSampled: boolean }

// Version 00 allows no further fields; a later version may have more. Ids of zeros are invalid.
const form =
  /^(?:00(?=.{53}$)|(?!00|ff)[\da-f]{2})-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** Null for an invalid `traceparent`, which the specification says to ignore. */
export function parseTraceparent(text: string | undefined): TracePlace | null {
  const [, traceId, spanId, flags] = form.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return { traceId, spanId, isSampled: /[13579bdf]$/.test(flags) }
}

export function writeTraceparent({ traceId, spanId, isSampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

const batchMax = 512
/** Further spans are dropped. */
const waitingMax = 8192
const sendEveryMs = 2000
const sendTimeoutMs = 5000

/** Nothing is global: only code that gets the tracer is traced. */
function openExport(
  { url, headers, serviceName, ratio }: TraceExportSettings,
  { version, onLost }: Pick<TracingDeps, 'version' | 'onLost'>,
): { tracer: Tracer; stop: () => Promise<void> } {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: sendTimeoutMs })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [createSender(exporter, onLost)],
  })
  return { tracer: provider.getTracer('depositd', version), stop: () => provider.shutdown() }
}

/** Reports every lost span, which the library's own processor does not. */
function createSender(exporter: SpanExporter, onLost: TracingDeps['onLost']): SpanProcessor {
  let waiting: ReadableSpan[] = []
  let dropped = 0
  let sending: Promise<void> | null = null
  const sendBatch = async (spans: ReadableSpan[]): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<Parameters<Parameters<SpanExporter['export']>[1]>[0]>()
    exporter.export(spans, resolve)
    const { error } = await promise
    if (error !== undefined) onLost(faultOf(spans.length, error))
  }
  const sendAll = async (): Promise<void> => {
    if (dropped > 0) onLost(faultOf(dropped, new Error(`more than ${waitingMax} waited`)))
    const spans = waiting
    dropped = 0
    waiting = []
    const starts = Array.from({ length: Math.ceil(spans.length / batchMax) }, (_, place) => place * batchMax)
    await Promise.all(starts.map((start) => sendBatch(spans.slice(start, start + batchMax))))
    sending = null
  }
  const timer = setInterval(() => {
    sending ??= sendAll()
  }, sendEveryMs)
  timer.unref()
  return {
    onStart: () => undefined,
    onEnd(span) {
      if (waiting.length < waitingMax) waiting.push(span)
      else dropped++
    },
    forceFlush: sendAll,
    async shutdown() {
      clearInterval(timer)
      await sending
      await sendAll()
      await exporter.shutdown()
    },
  }
}

function faultOf(spans: number, cause: Error): Fault<'remote_failed'> {
  const problem = `${spans} spans were dropped: ${cause.message}${isRedirect(cause) ? redirected : ''}`
  return new Fault('remote_failed', { what: 'sending traces', problem }, { cause })
}

const redirected =
  ': a redirect, which is not followed: OTEL_EXPORTER_OTLP_ENDPOINT has to be the address it leads to'

/** The exporter reports the status of a response as the code of its error. */
function isRedirect(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0
  return code >= 300 && code < 400
}
