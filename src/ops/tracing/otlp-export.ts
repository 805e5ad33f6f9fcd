import type { Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { Fault } from '../../core/errors.ts'
import type { TraceExportSettings, TracingDeps } from './tracing.ts'

const batchMax = 512
/** Spans that wait to be sent; what goes beyond is dropped. */
const waitingMax = 8192
const sendEveryMs = 2000
const sendTimeoutMs = 5000
/** Later than that, so that who sends says why it did not come to an end. */
const exportTimeoutMs = sendTimeoutMs + 1000

export type Export = {
  tracer: Tracer
  /** Sends what waits, within the time that one request may take. */
  stop: () => Promise<void>
}

/** Opens the way to the collector. Nothing of it is global: what is not handed the tracer traces nothing. */
export function openExport(
  { url, headers, serviceName, ratio }: TraceExportSettings,
  { version, onLost }: Pick<TracingDeps, 'version' | 'onLost'>,
): Export {
  const lost = countLost(onLost)
  const exporter = lost.telling(
    new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: sendTimeoutMs }),
  )
  const batches = new BatchSpanProcessor({
    exporter,
    maxExportBatchSize: batchMax,
    maxQueueSize: waitingMax,
    scheduledDelayMillis: sendEveryMs,
    exportTimeoutMillis: exportTimeoutMs,
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [lost.bounded(batches)],
  })
  return {
    tracer: provider.getTracer('depositd', version),
    async stop() {
      // Whatever goes wrong, what did not come to an end is told of.
      await provider.shutdown().catch(() => undefined)
      lost.tellRest()
    },
  }
}

/** Counts what waits, what is on its way and what was dropped, and tells of all that did not arrive: the library tells nobody. */
function countLost(onLost: (error: unknown) => void) {
  const count = { waiting: 0, underWay: 0, dropped: 0 }
  const tell = (spans: number, cause: Error): void => {
    if (spans > 0) onLost(faultOf(spans, cause))
  }
  const tellDropped = (): void => {
    tell(count.dropped, new Error(`more than ${waitingMax} waited`))
    count.dropped = 0
  }
  return {
    /** Drops what is too much before the library does so. */
    bounded(batches: SpanProcessor): SpanProcessor {
      return {
        onStart: (span, context) => batches.onStart(span, context),
        onEnd(span) {
          if (count.waiting >= waitingMax) {
            count.dropped++
            return
          }
          count.waiting++
          batches.onEnd(span)
        },
        forceFlush: () => batches.forceFlush(),
        shutdown: () => batches.shutdown(),
      }
    },
    telling(exporter: SpanExporter): SpanExporter {
      return {
        export(spans, done) {
          count.waiting -= spans.length
          count.underWay += spans.length
          exporter.export(spans, (result) => {
            count.underWay -= spans.length
            if (result.error !== undefined) tell(spans.length, result.error)
            tellDropped()
            done(result)
          })
        },
        shutdown: () => exporter.shutdown(),
      }
    },
    tellRest(): void {
      tellDropped()
      tell(count.waiting + count.underWay, new Error('the collector did not take them before the end'))
    },
  }
}

function faultOf(spans: number, cause: Error): Fault<'remote_failed'> {
  const problem = `${spans} spans were dropped: ${cause.message}${isRedirect(cause) ? redirected : ''}`
  return new Fault('remote_failed', { what: 'sending traces', problem }, { cause })
}

const redirected =
  ': a redirect, which is not followed: OTEL_EXPORTER_OTLP_ENDPOINT has to be the address it leads to'

/** The exporter tells the status of an answer as the code of its error. */
function isRedirect(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0
  return code >= 300 && code < 400
}
