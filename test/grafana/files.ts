import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const root = join(import.meta.dirname, '../..')

/** Where a file lies, named from the root of the project. */
export function pathOf(file: string): string {
  return join(root, file)
}

export function textOf(file: string): string {
  return readFileSync(pathOf(file), 'utf8')
}

const alert = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({
    summary: z.string(),
    description: z.string(),
    runbook_url: z.string(),
    dashboard: z.url(),
  }),
})

const rules = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alert) })),
})

export const rulesFile = 'grafana/prometheus/rules/depositd.yml'
export const rulesTestFile = 'grafana/prometheus/rules/depositd.test.yml'

/** All alerts, each with a severity, a summary, a description, its section of the runbook and its dashboard. */
export const alerts: readonly z.output<typeof alert>[] = rules
  .parse(parse(textOf(rulesFile)))
  .groups.flatMap((group) => group.rules)

/** The level-three headings of the runbook, with the text below each, by the anchor a link to it has. */
export function runbookSections(): Map<string, string> {
  const parts = textOf('docs/runbook.md').split(/^### /m).slice(1)
  return new Map(
    parts.map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      return [heading.toLowerCase().replaceAll(' ', '-'), lines.join('\n').split(/^## /m)[0] ?? '']
    }),
  )
}
