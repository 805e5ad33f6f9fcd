import { type Metric, type OpenMetricsContentType, Registry, type RegistryContentType } from 'prom-client'

export type Exposition = { contentType: string; text: () => Promise<string> }

/** Both text formats of a registry. OpenMetrics has exemplars, which the plain format cannot hold. */
export function createExpositions(registry: Registry): Record<'plain' | 'openMetrics', Exposition> {
  const open = openRegistry()
  for (const metric of metricsOf(registry)) {
    // For OpenMetrics, the library strips the suffix of counter names permanently, so it gets copies that share the
    // values.
    open.registerMetric(Object.create(metric) as Metric)
  }
  return {
    plain: { contentType: registry.contentType, text: () => registry.metrics() },
    openMetrics: { contentType: open.contentType, text: () => open.metrics() },
  }
}

/** The library's constructor accepts the content type, but its type declarations do not. */
export function openRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  return registry
}

export function metricsOf(registry: Registry<RegistryContentType>): Metric[] {
  return registry.getMetricsAsArray().flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
}

/**
 * Whether a scrape prefers OpenMetrics, by its `Accept`. Only version 1.0.0 is supported. Other parameters, such as the
 * escaping of names, do not matter for names as simple as these.
 */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(readRange)
  const weigh = (fits: (range: MediaRange) => boolean) =>
    Math.max(0, ...ranges.filter(fits).map(({ q }) => q))
  const open = weigh(
    ({ type, version }) => type === 'application/openmetrics-text' && (version ?? '1.0.0') === '1.0.0',
  )
  return open > 0 && open >= weigh(({ type }) => type === 'text/plain')
}

type MediaRange = { type: string; version: string | undefined; q: number }

function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const read = new Map(parameters.map((one) => one.split('=', 2) as [string, string | undefined]))
  const q = Number(read.get('q') ?? 1)
  return { type, version: read.get('version'), q: Number.isNaN(q) ? 0 : q }
}
