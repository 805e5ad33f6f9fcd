import {
  collectDefaultMetrics,
  type Metric,
  type OpenMetricsContentType,
  Registry,
  type RegistryContentType,
} from 'prom-client'
import { ofApi, ofChains, ofEvents, ofIntake, ofNotifications, ofPoll, ofProgram } from './metrics/daemon.ts'
import {
  type Creation,
  createAdmission,
  type KnownLabelValues,
  type MetricDescription,
} from './metrics/declare.ts'
import { ofBooks, ofDeposits, ofScorecard } from './metrics/deposits.ts'

/** Without the prefix. Labels have few, limited values; ids belong in the log. */
const declared = {
  ...ofProgram,
  ...ofIntake,
  ...ofApi,
  ...ofEvents,
  ...ofPoll,
  ...ofNotifications,
  ...ofChains,
  ...ofDeposits,
  ...ofBooks,
  ...ofScorecard,
}

type MetricDeclarations = typeof declared
export type Metrics = { [Name in keyof MetricDeclarations]: ReturnType<MetricDeclarations[Name]> } & {
  registry: Registry
  /** Of the settings as they are now; `polled` without those that are paused. */
  services: { named: readonly string[]; polled: readonly string[] }
  /** Makes these the services. */
  follow: (services: Metrics['services']) => void
} & Pick<Creation, 'refused' | 'clears'>

export const metricDescriptions: readonly MetricDescription[] = Object.values(declared).map(
  ({ description }) => description,
)

/** @param known label values by set: networks and assets of the settings */
export function createMetrics(version: string, known: KnownLabelValues = {}): Metrics {
  // The library only allows exemplars in an OpenMetrics registry, so this one only collects.
  const ground = openRegistry()
  collectDefaultMetrics({ register: ground })
  // These are gauges with names of counters; the same values exist by type.
  for (const what of ['handles', 'requests', 'resources'])
    ground.removeSingleMetric(`nodejs_active_${what}_total`)
  const kept = { refused: new Set<string>(), clears: [] }
  const starts: Creation['starts'] = []
  const creation: Creation = { registry: ground, admit: createAdmission(known), known, starts, ...kept }
  const metrics = Object.entries(declared).map(([name, create]) => [name, create(creation)])
  const registry = new Registry()
  for (const metric of metricsOf(ground)) registry.registerMetric(metric)
  const created: Metrics = {
    ...(Object.fromEntries(metrics) as Omit<
      Metrics,
      'registry' | 'services' | 'follow' | 'refused' | 'clears'
    >),
    registry,
    services: { named: known['service'] ?? [], polled: known['service'] ?? [] },
    follow(services) {
      for (const start of starts) start({ ...known, service: services.named })
      created.services = services
    },
    ...kept,
  }
  created.build.set({ version }, 1)
  return created
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
