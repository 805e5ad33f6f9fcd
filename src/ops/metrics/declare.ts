import { Counter, Gauge, Histogram, type OpenMetricsContentType, type Registry } from 'prom-client'

const prefix = 'depositd_'

/** From a tenth of a second to a week: webhooks take the low end, finality and settlement the high one. */
export const lagBuckets = [
  0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 86_400, 604_800,
]
export const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

/** `units`: of the asset, approximate. `flag`: 0 or 1. */
export type MetricUnit = 'seconds' | 'ratio' | 'units' | 'height' | 'flag' | 'count'

export type MetricDescription = {
  type: 'counter' | 'gauge' | 'histogram'
  name: string
  help: string
  unit: MetricUnit
  labels: readonly string[]
  values: Readonly<Record<string, Values>>
  buckets?: readonly number[]
}

export type Creation = {
  registry: Registry<OpenMetricsContentType>
  admit: Admit
  known: KnownLabelValues
  /** Set to a value that is not a number. */
  refused: Set<string>
  /** Of the gauges that are read anew for each scrape. */
  clears: (() => void)[]
  /** Of the counters and histograms of services: their series start at 0 for these values too. */
  starts: ((known: KnownLabelValues) => void)[]
}

type Labels<Label extends string> = Readonly<Record<Label, string>>
type Shape<Label extends string> = {
  labels?: Readonly<Record<Label, Values>>
  unit?: MetricUnit
  /** A gauge that the process sets at any time; others are read anew for each scrape. */
  ofProcess?: true
}

/** For investigation; never a label. */
export type Exemplar = Readonly<Record<string, string>>

/** The limit of OpenMetrics, names included. */
const exemplarLengthMax = 128

/** For each service. A counter with more series does not start at 0. */
const startedMax = 100

/** Starts at 0 for known label values, because Prometheus only sees an increase in an existing series. */
export function counter<Label extends string = never>(
  suffix: string,
  help: string,
  shape: Shape<Label> = {},
) {
  const described = describe('counter', { suffix, help }, shape)
  return Object.assign(
    (creation: Creation) => {
      const { registry, admit } = creation
      const { name, labels: labelNames, values } = described
      const metric = new Counter({ name, help, labelNames, registers: [registry] })
      startAt0(creation, values, (labels) => metric.inc(labels, 0))
      return {
        inc(labels: Labels<Label>, by = 1) {
          metric.inc(shown(values, labels, admit), by)
        },
        read: () => readSeries<Label>(metric),
      }
    },
    { description: described },
  )
}

/**
 * Values with the label `other` are combined: ages to the maximum, units and counts to the sum, all others to the last.
 */
export function gauge<Label extends string = never>(suffix: string, help: string, shape: Shape<Label> = {}) {
  const described = describe('gauge', { suffix, help }, shape)
  return Object.assign(
    ({ registry, known, refused, clears }: Creation) => {
      const { name, labels: labelNames, values, unit } = described
      const metric = new Gauge({ name, help, labelNames, registers: [registry] })
      const folded = new Map<string, number>()
      let admit = createAdmission(known)
      const clear = (): void => {
        folded.clear()
        admit = createAdmission(known)
        if (labelNames.length === 0) metric.remove()
        else metric.reset()
      }
      if (shape.ofProcess !== true) clears.push(clear)
      return {
        /** Skips a value that is not a number, such as a null of the database. */
        set(labels: Labels<Label>, value: number) {
          if (!Number.isFinite(value)) {
            refused.add(name)
            return
          }
          const said = shown(values, labels, admit)
          const key = JSON.stringify(said)
          const isFolded = Object.values(said).includes(other)
          const all = isFolded ? fold(unit, folded.get(key), value) : value
          if (isFolded) folded.set(key, all)
          metric.set(said, all)
        },
        /** Exports nothing until the gauge is set again. */
        clear,
        read: () => readSeries<Label>(metric),
      }
    },
    { description: described },
  )
}

/** Of this process. */
async function readSeries<Label extends string>(
  metric: Counter | Gauge,
): Promise<{ labels: Labels<Label>; value: number }[]> {
  const { values } = await metric.get()
  return values.map(({ labels, value }) => ({ labels: labels as Labels<Label>, value }))
}

type Buckets<Label extends string> = Shape<Label> & { buckets: number[] }

/** Starts at 0 like a counter. */
export function histogram<Label extends string = never>(suffix: string, help: string, shape: Buckets<Label>) {
  const described = { ...describe('histogram', { suffix, help }, shape), buckets: shape.buckets }
  return Object.assign(
    (creation: Creation) => {
      const { registry, admit } = creation
      const { name, labels: labelNames, values, buckets } = described
      const settings = { name, help, labelNames, buckets, registers: [registry], enableExemplars: true }
      const metric = new Histogram(settings)
      startAt0(creation, values, (labels) => metric.zero(labels))
      return {
        observe(labels: Labels<Label>, value: number, exemplar: Exemplar = {}) {
          const fits = Object.entries(exemplar).flat().join('').length <= exemplarLengthMax
          const exemplarLabels = fits ? exemplar : {}
          metric.observe({ labels: shown(values, labels, admit), value, exemplarLabels })
        },
      }
    },
    { description: described },
  )
}

function describe<Label extends string>(
  type: MetricDescription['type'],
  { suffix, help }: { suffix: string; help: string },
  { labels, unit }: Shape<Label>,
): MetricDescription {
  const values: Readonly<Record<string, Values>> = labels ?? {}
  return {
    type,
    name: prefix + suffix,
    help,
    unit: unit ?? unitOf(suffix),
    labels: Object.keys(values),
    values,
  }
}

function unitOf(suffix: string): MetricUnit {
  if (suffix.endsWith('_seconds')) return 'seconds'
  return suffix.endsWith('_ratio') ? 'ratio' : 'count'
}

/** In declared order, with the values that are exported. */
function shown(
  values: MetricDescription['values'],
  labels: Readonly<Record<string, string>>,
  admit: Admit,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([label, allowed]) => [label, admit(allowed, labels[label] ?? '')]),
  )
}

function fold(unit: MetricUnit, before: number | undefined, value: number): number {
  if (before === undefined) return value
  if (unit === 'seconds') return Math.max(before, value)
  return unit === 'count' || unit === 'units' ? before + value : value
}

/**
 * A set not known in advance. A process distinguishes at most `upTo` values, over all counters and histograms; a gauge
 * at most as many of its own, until it is cleared.
 */
export type OpenSet = { set: string; upTo: number }

/** Other values become `other`. */
export type Values = readonly string[] | OpenSet

/** Other values cannot displace these. */
export type KnownLabelValues = Readonly<Record<string, readonly string[]>>

type Admit = (values: Values, value: string) => string

export const services: OpenSet = { set: 'service', upTo: 16 }
export const networks: OpenSet = { set: 'network', upTo: 32 }
export const assets: OpenSet = { set: 'asset', upTo: 64 }
export const routes: OpenSet = { set: 'route', upTo: 64 }
export const calls: OpenSet = { set: 'call', upTo: 32 }
export const nodes: OpenSet = { set: 'node', upTo: 32 }
export const rpcMethods: OpenSet = { set: 'method', upTo: 32 }

export const other = 'other'

/** A longer text is not a name. */
const lengthMax = 120

/** The first values keep their place and their series as long as the process runs. */
export function createAdmission(known: KnownLabelValues): Admit {
  const sets = new Map<string, Set<string>>()
  return (values, given) => {
    const value = given.toWellFormed()
    if (!('set' in values)) return values.includes(value) ? value : other
    const admitted = sets.get(values.set) ?? new Set(['', ...(known[values.set] ?? [])])
    sets.set(values.set, admitted)
    if (admitted.has(value)) return value
    if (admitted.size > values.upTo || value.length > lengthMax) return other
    admitted.add(value)
    return value
  }
}

function startAt0(
  { known, starts }: Creation,
  values: MetricDescription['values'],
  zero: (labels: Record<string, string>) => void,
): void {
  const start = (now: KnownLabelValues) => {
    for (const labels of startedAt0(values, now)) zero(labels)
  }
  start(known)
  if ('service' in values) starts.push(start)
}

function startedAt0(values: MetricDescription['values'], known: KnownLabelValues): Record<string, string>[] {
  const all = combinations(values, known)
  const count = 'service' in values ? (known['service']?.length ?? 1) : 1
  return all.length <= startedMax * count ? all : []
}

function combinations(
  labels: Readonly<Record<string, Values>>,
  known: KnownLabelValues,
): Record<string, string>[] {
  let found: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    const all = 'set' in values ? (known[values.set] ?? []) : values
    found = found.flatMap((one) => all.map((value) => ({ ...one, [label]: value })))
  }
  return found
}
