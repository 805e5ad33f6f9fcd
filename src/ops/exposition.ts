import { type Metric, type OpenMetricsContentType, Registry, type RegistryContentType } from 'prom-client'

export type Exposition = { contentType: string; text: () => Promise<string> }

/** Both forms in which the values of a registry are told. OpenMetrics has exemplars, which the plain one cannot hold. */
export function createExpositions(registry: Registry): Record<'plain' | 'openMetrics', Exposition> {
  const open = openRegistry()
  for (const metric of metricsOf(registry)) {
    // The library takes the ending off the names of counters for good, so it is given copies that share the values.
    open.registerMetric(Object.create(metric) as Metric)
  }
  return {
    plain: { contentType: registry.contentType, text: () => registry.metrics() },
    openMetrics: { contentType: open.contentType, text: () => open.metrics() },
  }
}

/** The library's constructor takes the type, and its declarations do not. */
export function openRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  return registry
}

export function metricsOf(registry: Registry<RegistryContentType>): Metric[] {
  return registry.getMetricsAsArray().flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
}

/**
 * Whether a scrape would rather have OpenMetrics, by its `Accept`. Only version 1.0.0 is spoken; other parameters, like
 * how names may be escaped, change nothing about names as simple as these.
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
