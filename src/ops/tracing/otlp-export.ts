import type { Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { Fault } from '../../core/errors.ts'
import type { TracingDeps, TracingSettings } from './tracing.ts'

const batchMax = 512
/** Spans that wait to be sent; what goes beyond is dropped. */
const waitingMax = 8192
const sendEveryMs = 2000
const sendTimeoutMs = 5000

export type Export = {
  tracer: Tracer
  /** Sends what waits, within the time that one request may take. */
  stop: () => Promise<void>
}

/** Opens the way to the collector. Nothing of it is global: what is not handed the tracer traces nothing. */
export function openExport(
  { url, headers, serviceName, ratio }: TracingSettings,
  { version, onLost }: Pick<TracingDeps, 'version' | 'onLost'>,
): Export {
  const exporter = telling(
    new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: sendTimeoutMs }),
    onLost,
  )
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxExportBatchSize: batchMax,
        maxQueueSize: waitingMax,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendTimeoutMs,
      }),
    ],
  })
  return {
    tracer: provider.getTracer('depositd', version),
    // What could not be sent was told when it happened.
    stop: () => provider.shutdown().catch(() => undefined),
  }
}

/** Tells why spans were not sent, and takes it as done: the library itself would tell nobody. */
function telling(exporter: SpanExporter, onLost: (error: unknown) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onLost(lost(spans.length, result.error))
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

function lost(spans: number, cause: Error): Fault<'remote_failed'> {
  const problem = `${spans} spans were dropped: ${cause.message}`
  return new Fault('remote_failed', { what: 'sending traces', problem }, { cause })
}
