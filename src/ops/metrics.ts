import { collectDefaultMetrics, Registry } from 'prom-client'
import { metricsOf, openRegistry } from './exposition.ts'
import { ofBooks } from './metrics/books.ts'
import { ofCanaries } from './metrics/canary.ts'
import { ofChains } from './metrics/chains.ts'
import type { Creation, MetricDescription } from './metrics/declare.ts'
import { ofDeposits } from './metrics/deposits.ts'
import { ofIntake } from './metrics/intake.ts'
import { createAdmission, type KnownLabelValues } from './metrics/label-values.ts'
import { ofPoll } from './metrics/poll.ts'
import { ofScorecard } from './metrics/scorecard.ts'
import { ofService } from './metrics/service.ts'

/** Every metric, declared once, without the prefix. Labels are few and closed; ids belong in the log. */
const declared = {
  ...ofService,
  ...ofIntake,
  ...ofPoll,
  ...ofChains,
  ...ofDeposits,
  ...ofBooks,
  ...ofScorecard,
  ...ofCanaries,
}

type MetricDeclarations = typeof declared
export type Metrics = { [Name in keyof MetricDeclarations]: ReturnType<MetricDeclarations[Name]> } & {
  registry: Registry
  /** Names of gauges that were to be set to what is no number, until they are forgotten. */
  refused: Set<string>
}

/** What is declared, for documentation. */
export const metricDescriptions: readonly MetricDescription[] = Object.values(declared).map(
  ({ description }) => description,
)

/**
 * The metrics of one process, with Node's own.
 * @param known values of labels that are known beforehand, by set: networks and assets of the settings
 */
export function createMetrics(version: string, known: KnownLabelValues = {}): Metrics {
  // Only where nothing but OpenMetrics is told may there be exemplars, so this one is only there to collect.
  const ground = openRegistry()
  collectDefaultMetrics({ register: ground })
  // These are gauges with the names of counters; what they add up is there by type.
  for (const what of ['handles', 'requests', 'resources'])
    ground.removeSingleMetric(`nodejs_active_${what}_total`)
  const refused = new Set<string>()
  const creation: Creation = { registry: ground, admit: createAdmission(known), known, refused }
  const metrics = Object.entries(declared).map(([name, create]) => [name, create(creation)])
  const registry = new Registry()
  for (const metric of metricsOf(ground)) registry.registerMetric(metric)
  const created = {
    ...(Object.fromEntries(metrics) as Omit<Metrics, 'registry' | 'refused'>),
    registry,
    refused,
  }
  created.build.set({ version }, 1)
  return created
}
