import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import type { KindEntry } from '../../src/core/mismatches/mismatch-entry.ts'
import { type AlertRule, alerts } from './alert-rules.ts'
import { endings, sides } from './mismatches-page.ts'

const file = join(import.meta.dirname, '../../docs/runbook.md')

/**
 * `docs/runbook.md` as it is, but for the headings of alerts and of kinds of mismatch, their order and the line below
 * each: those are of the rule files, and of the table that the program itself uses. The bodies are written by hand.
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
  return `${before}${remade(ofAlerts, all)}\n${remade(ofKinds, kinds)}`
}

type Subject = { heading: string; line: string }

/** A part of the page: what stands before its first section, and a section for each subject. */
function remade(part: string, subjects: readonly Subject[]): string {
  const [introduction = '', ...sections] = part.split(/^### /m)
  const bodies = new Map(sections.map(bodyOf))
  const written = subjects.map(
    ({ heading, line }) => `### ${heading}\n${line}\n\n${bodies.get(heading) ?? 'To be written.'}\n`,
  )
  return introduction + written.join('\n')
}

/** A section without its heading and the line that is made. */
function bodyOf(section: string): [string, string] {
  const [heading = '', ...lines] = section.trimEnd().split('\n')
  const start = lines.findIndex((line) => line.startsWith('- **Means:**'))
  return [heading, lines.slice(start).join('\n')]
}

function alertLine({ labels, annotations, for: lasting }: AlertRule): string {
  const when = lasting === undefined ? 'at once' : `once it has lasted ${lasting}`
  const [, dashboard = ''] = /\/d\/([\w-]+)/.exec(annotations.dashboard) ?? []
  return `*${labels.severity}, ${when}. ${annotations.impact} Dashboard: ${dashboard}.*`
}

function kindLine({ severity, off, ends, actWithinHours }: KindEntry): string {
  const waiting = ends.byWaiting ? '; what is missing may only be late' : ''
  return `*${severity}. Off: ${sides[off]}. Ends ${endings[ends.by]}${waiting}. Act within ${actWithinHours} h.*`
}
