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
import { Fault, messageOf } from '../../core/errors.ts'
import { shorten } from '../../core/shorten.ts'
import type { AppliedTrail } from '../tell-applied.ts'
import { openExport } from './otlp-export.ts'
import { traceBatch } from './trace-batch.ts'
import { parseTraceparent, type TracePlace, writeTraceparent } from './traceparent.ts'
import type { TraceExportSettings, TraceRecorder, TracingDeps } from './tracing.ts'

/** Batches whose rows are still looked up; of more at once none is traced. */
const lookupsMax = 8
/** Of what a job threw. The log has more of it. */
const statusMax = 1000

/** Sends traces to a collector, by OTLP over HTTP. Only what has an address to send to loads this file. */
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

/** Traces batches once it was looked up where the traces of their rows go on. */
function followBatches(tracer: Tracer, { traceparentsOf, onLost }: TracingDeps) {
  const lookups = new Set<Promise<void>>()
  let untraced = 0
  const tellUntraced = (): void => {
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
        tellUntraced()
      })
    },
    finish: () => Promise.all(lookups),
  }
}

/** Rows of which more than the batch itself tells. */
function bookedRows({ journals, webhooks }: AppliedTrail['trails'][number]): readonly bigint[] {
  return journals.length === 0 ? [] : webhooks
}

function contextOf(place: TracePlace | null): Context | null {
  if (place === null) return null
  const { traceId, spanId, isSampled } = place
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

/** Ends the span with the work, however that ends. */
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
