import type { EnvironmentReader } from './environment.ts'

/** Destination of traces. */
export type TracingSettings = {
  /** URL of the collector, with the path for traces. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** The share of traces that is sent, 0 to 1. */
  ratio: number
}

/** Reads the settings under their OpenTelemetry names. Null if no collector is set; nothing is traced then. */
export function readTracing(reader: EnvironmentReader): TracingSettings | null {
  const asked = reader.optional('OTEL_EXPORTER_OTLP_ENDPOINT') !== undefined
  const endpoint = asked ? reader.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']) : ''
  const settings = {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readHeaders(reader),
    serviceName: reader.text('OTEL_SERVICE_NAME', 'depositd'),
    ratio: readRatio(reader),
  }
  return asked ? settings : null
}

/** `name=value` pairs with URL-encoded values: OTEL_EXPORTER_OTLP_HEADERS of the specification. */
function readHeaders(reader: EnvironmentReader): Record<string, string> {
  const name = 'OTEL_EXPORTER_OTLP_HEADERS'
  const text = reader.optional(name) ?? ''
  if (text === '') return {}
  const pairs = text.split(',').map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)=(.*)$/.exec(pair))
  const headers = pairs.map((pair) => [pair?.[1] ?? '', decode(pair?.[2]?.trim() ?? '')] as const)
  // The fault does not repeat the text: a header can contain a key.
  if (headers.some(([key, value]) => key === '' || value === null))
    reader.faults.push(`${name} is no list of the form name=value,name=value`)
  return Object.fromEntries(headers.map(([key, value]) => [key, value ?? '']))
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function readRatio(reader: EnvironmentReader): number {
  const name = 'OTEL_TRACES_SAMPLER_ARG'
  const text = reader.text(name, '1')
  const ratio = /^(?:[01]|[01]?\.\d+)$/.test(text) ? Number(text) : Number.NaN
  if (text !== '' && !(ratio >= 0 && ratio <= 1))
    reader.faults.push(`${name} is no share from 0 to 1: ${JSON.stringify(text)}`)
  return ratio
}
