import { mismatchKinds, type Severity } from '../../src/core/mismatch.ts'
import { markdownTable } from './markdown.ts'

const severities: Record<Severity, string> = {
  severe: 'money may be lost, owed wrongly or sent to the wrong place',
  warning: 'the sources tell different stories, and no money is known to be at stake',
  info: 'worth knowing',
}

type Family = (typeof mismatchKinds)[keyof typeof mismatchKinds]['family']

const families: Record<Family, string> = {
  presence: 'A source that should speak of a step does not.',
  value: 'The sources state different amounts or assets.',
  identity: 'An address is not the one that it should be, or is not known.',
  state: 'The course of a deposit, as the service tells it, is not one that can be.',
  chain: 'A chain took back what it had called final, or what is read of it does not add up.',
  policy: 'A payment or delivery is outside of what the settings accept for its route.',
  system: 'A payload cannot be read, or the books are not as they must be.',
}

/** `docs/mismatches.md`: every kind of mismatch, from the table that the program itself uses. */
export function mismatchesPage(): string {
  return [
    '<!-- Made from src/core/mismatch.ts by test/support/generate-docs.ts. Change it there. -->\n',
    '# Mismatches\n',
    `A mismatch is something wrong with one deposit, one transfer, one payload, or one channel or wallet. It opens when the evidence, or the
time that has passed, shows it, and clears by itself when new evidence puts it right. It opens anew where it comes back.
An \`unknown_event\`, an \`unknown_status\` and a \`schema_drift\` are of one payload, and are cleared by
[\`depositd replay\`](mapping.md#replay) once it can be read.
Deadlines are settings: see [policy](settings.md#policy). How to look and how to mend is in the
[runbook](runbook.md#mismatches).\n`,
    'List them with `depositd mismatches list`, or read the view `accounting.mismatches`.\n',
    '## Severities\n',
    markdownTable(['Severity', 'Meaning'], Object.entries(severities).map(coded)),
    '## Kinds\n',
    markdownTable(['Kind', 'Severity', 'Family'], Object.entries(mismatchKinds).map(summaryOf)),
    ...Object.entries(families).map(([family, means]) => familySection(family, means)),
  ].join('\n')
}

function summaryOf([kind, { severity, family }]: [string, { severity: string; family: string }]): string[] {
  return [`[\`${kind}\`](#${kind})`, severity, family]
}

function familySection(family: string, means: string): string {
  const kinds = Object.entries(mismatchKinds).filter(([, entry]) => entry.family === family)
  const sections = kinds.map(
    ([kind, entry]) =>
      `\n### ${kind}\n\n${entry.means}\n\n- Severity: ${entry.severity}\n- What to do: ${entry.next}\n- More: [runbook](runbook.md#${kind})\n`,
  )
  return `## ${family.charAt(0).toUpperCase()}${family.slice(1)}\n\n${means}\n${sections.join('')}`
}

function coded([name, means]: [string, string]): string[] {
  return [`\`${name}\``, means]
}
