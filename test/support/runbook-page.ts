import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import type { KindEntry } from '../../src/core/mismatches/mismatch-entry.ts'
import { endings, sides } from './mismatches-page.ts'

const file = join(import.meta.dirname, '../../docs/runbook.md')

/**
 * `docs/runbook.md` as it is, but for the headings of the kinds of mismatch, their order and the line below each: those
 * are of the table that the program itself uses. The bodies are written by hand.
 */
export function runbookPage(): string {
  const [before = '', after = ''] = readFileSync(file, 'utf8').split(/(?<=^## Mismatches\n)/m)
  const [introduction = '', ...sections] = after.split(/^### /m)
  const bodies = new Map(sections.map(bodyOf))
  const kinds = Object.entries(mismatchKinds).map(
    ([kind, entry]) => `### ${kind}\n${lineOf(entry)}\n\n${bodies.get(kind) ?? 'To be written.'}\n`,
  )
  return `${before}${introduction}${kinds.join('\n')}`
}

/** A section without its heading and the line that is made. */
function bodyOf(section: string): [string, string] {
  const [heading = '', ...lines] = section.trimEnd().split('\n')
  const start = lines.findIndex((line) => line.startsWith('- **Means:**'))
  return [heading, lines.slice(start).join('\n')]
}

function lineOf({ severity, off, ends, actWithinHours }: KindEntry): string {
  const waiting = ends.byWaiting ? '; what is missing may only be late' : ''
  return `*${severity}. Off: ${sides[off]}. Ends ${endings[ends.by]}${waiting}. Act within ${actWithinHours} h.*`
}
