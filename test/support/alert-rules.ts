import { basename, dirname, join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { textOf } from '../grafana/files.ts'

/** A link is built on an address that a rule records, and is left out if none is set. */
function linkTo(page: 'runbook' | 'dashboards' | 'console', path: RegExp) {
  const start = `{{ range query "depositd:${page}_url" }}{{ .Labels.url }}`
  const end = '{{ end }}'
  return z
    .string()
    .refine((text) => text.startsWith(start) && text.endsWith(end))
    .refine((text) => path.test(text.slice(start.length, -end.length)))
}

const alert = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'none']) }),
  annotations: z.strictObject({
    summary: z.string().min(10),
    impact: z.string().min(20),
    runbook_url: linkTo('runbook', /^#[a-z]+$/),
    dashboard: linkTo('dashboards', /^\/d\/depositd-[a-z]+$/),
    console: linkTo('console', /^\/[a-z]/).optional(),
  }),
})

const recording = z.strictObject({
  record: z.string(),
  expr: z.string(),
  labels: z.record(z.string(), z.string()).default({}),
})

const rulesShape = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      interval: z.string().optional(),
      rules: z.array(z.union([alert, recording])),
    }),
  ),
})

export type AlertRule = z.output<typeof alert>

export const prometheusFile = 'grafana/prometheus/prometheus.yml'

const configurationShape = z.object({ rule_files: z.array(z.string()) }).loose()

/** The rule files that Prometheus is told of, named from the root of the project. */
export const ruleFiles: readonly string[] = configurationShape
  .parse(parse(textOf(prometheusFile)))
  .rule_files.map((file) => join(dirname(prometheusFile), file))

const rules = ruleFiles.flatMap((file) =>
  rulesShape.parse(parse(textOf(file))).groups.flatMap((group) => group.rules),
)

/** All alerts, each with a severity, a summary, its impact, its section of the runbook and its dashboard. */
export const alerts: readonly AlertRule[] = rules.flatMap((rule) => ('alert' in rule ? [rule] : []))

/** All series that rules record for others. */
export const recordings = rules.flatMap((rule) => ('record' in rule ? [rule] : []))

/** What fires always, so that its absence is noticed. */
export const watchdog = 'DepositdWatchdog'

/** Where the unit tests of a rule file are. */
export function testsOf(ruleFile: string): string {
  return join(dirname(ruleFile), `${basename(ruleFile, '.yml')}.test.yml`)
}
