import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import type { KindEntry } from '../../src/core/mismatches/kind-entry.ts'
import { type AlertRule, alerts } from './alert-rules.ts'
import { responsibleParties } from './mismatches-page.ts'

const file = join(import.meta.dirname, '../../docs/runbook.md')

/**
 * `docs/runbook.md` with the headings of alerts and mismatch kinds, their order and the line below each heading generated
 * from the rule files and from the table that the program uses. The bodies are written by hand.
 */
export function runbookPage(): string {
  const [before = '', ofAlerts = '', ofKinds = ''] = readFileSync(file, 'utf8').split(
    /(?<=^## Alerts\n)|^(?=## Mismatches\n)/m,
  )
  const kinds = Object.entries(mismatchKinds).map(([kind, entry]) => ({
    heading: kind,
    line: kindLine(entry),
  }))
  const all = alerts.map((rule) => ({ heading: rule.alert, line: alertLine(rule) }))
  return `${before}${regenerated(ofAlerts, all)}\n${regenerated(ofKinds, kinds)}`
}

type Subject = { heading: string; line: string }

/** A part of the page: its introduction, and a section for each subject. */
function regenerated(part: string, subjects: readonly Subject[]): string {
  const [introduction = '', ...sections] = part.split(/^### /m)
  const bodies = new Map(sections.map(bodyOf))
  const written = subjects.map(
    ({ heading, line }) => `### ${heading}\n${line}\n\n${bodies.get(heading) ?? 'To be written.'}\n`,
  )
  return introduction + written.join('\n')
}

/** The heading of a section, and its body without the generated line. */
function bodyOf(section: string): [string, string] {
  const [heading = '', ...lines] = section.trimEnd().split('\n')
  const start = lines.findIndex((line) => line.startsWith('- **Means:**'))
  return [heading, lines.slice(start).join('\n')]
}

function alertLine({ labels, annotations, for: lasting }: AlertRule): string {
  const when = lasting === undefined ? 'immediately' : `after ${lasting}`
  const [, dashboard = ''] = /\/d\/([\w-]+)/.exec(annotations.dashboard) ?? []
  return `*${capitalized(labels.severity)}. Fires ${when}. ${annotations.impact} Dashboard: ${dashboard}.*`
}

function kindLine({ severity, responsible, actWithinHours }: KindEntry): string {
  return `*${capitalized(severity)}. Caused by: ${responsibleParties[responsible]}. Act within ${actWithinHours} h.*`
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
