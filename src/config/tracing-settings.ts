import type { EnvironmentReader } from './environment.ts'

/** Where traces are sent. */
export type TracingSettings = {
  /** Of the collector, with the path that takes traces. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** The share of traces that is sent, 0 to 1. */
  ratio: number
}

/** Reads the settings under the names that OpenTelemetry gives them. Null where no collector is named: nothing is traced then. */
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

/** `name=value` pairs, the values as an address writes them: OTEL_EXPORTER_OTLP_HEADERS of the specification. */
function readHeaders(reader: EnvironmentReader): Record<string, string> {
  const name = 'OTEL_EXPORTER_OTLP_HEADERS'
  const text = reader.optional(name) ?? ''
  if (text === '') return {}
  const pairs = text.split(',').map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)=(.*)$/.exec(pair))
  const headers = pairs.map((pair) => [pair?.[1] ?? '', decode(pair?.[2]?.trim() ?? '')] as const)
  // The text is not repeated: a header may hold a key.
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
