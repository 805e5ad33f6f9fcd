import { mismatchKinds, type Severity } from '../../src/core/mismatch.ts'
import type {
  KindEntry,
  LossRule,
  ResolutionMethod,
  ResponsibleParty,
} from '../../src/core/mismatches/kind-entry.ts'
import { markdownTable } from './markdown.ts'

const severities: Record<Severity, string> = {
  severe: 'money may be lost, owed wrongly or sent to the wrong place',
  warning: 'the sources differ, and no money is known to be lost',
  info: 'worth knowing',
}

export const sides: Record<ResponsibleParty, string> = {
  webhook: "the service's webhooks",
  api: "the service's API",
  service: 'the service',
  payer: 'the payer',
  chain: 'a chain, or its nodes',
  settings: 'what was set up here: mapping profile, policy or address book',
  books: 'the books',
  unknown: 'not known until somebody looks',
}

export const endings: Record<ResolutionMethod, string> = {
  evidence: 'by itself, when further evidence puts it right',
  replay: 'by [`bin/depositd replay`](mapping.md#replay), once the payload can be read',
  person: 'by a person alone',
}

const lossRules: Record<LossRule, string> = {
  measured: 'an amount, unless it is zero',
  none: 'no money is lost by it alone',
  unmeasured: 'it may be anything: listed before all others of its severity',
}

const families: Record<KindEntry['family'], string> = {
  presence: 'A source that should speak of a step does not.',
  value: 'The sources state different amounts or assets.',
  identity: 'An address is not the one that it should be, or is not known.',
  state: 'The course of a deposit, as the service tells it, is not one that can be.',
  chain: 'A chain took back what it had called final, or what is read of it does not add up.',
  coverage: 'The service speaks of what was not read, so that nothing is known of it.',
  policy: 'A payment or delivery is outside of what the settings accept for its route.',
  system: 'A payload cannot be read, or the books are not as they must be.',
}

/** `docs/mismatches.md`: every kind of mismatch, from the table that the program itself uses. */
export function mismatchesPage(): string {
  return [
    '<!-- Made from src/core/mismatch.ts by test/support/generate-docs.ts. Change it there. -->\n',
    '# Mismatches\n',
    `A mismatch is something wrong with one deposit, one transfer, one payload, one channel or wallet, one network, or
the books of one asset. It opens when the evidence, or the time that has passed, shows it, and ends as its kind says. It
opens anew where it comes back. "Act within" counts from its opening: by then somebody should have done something.
Deadlines are settings: see [policy](settings.md#policy). How to look and how to mend is in the
[runbook](runbook.md#mismatches).\n`,
    `List them with \`bin/depositd mismatches list\`, or read the view \`accounting.mismatches\`. A person can resolve any of
them, with a reason: [case work](case-work.md).\n`,
    '## Severities\n',
    markdownTable(['Severity', 'Meaning'], Object.entries(severities).map(coded)),
    '## Losses\n',
    `Each mismatch carries its loss: an amount of one asset, beside the amount of the deposit that it is about. A delivery
that falls short by 1 USDC is a loss of 1 USDC, whatever was paid. The loss is what the service owes, or claims without
proof, if the mismatch is what it looks like; each kind below says how it is measured.\n`,
    markdownTable(['Loss', 'Meaning'], Object.entries(lossRules).map(coded)),
    `Mismatches are listed by severity, then by loss: by its value if the asset has a [price](accounting.md#values-in-a-currency), else by
its share of what was owed, such as 10 % of a delivery. Amounts of different assets are never compared. A price counts
if it was in force when the mismatch opened. Sums are per asset, or in the currency of the prices. Several mismatches of
one transfer mostly show one loss, so that sums count the largest of each asset, once: \`accounting.value_at_risk\`,
\`accounting.mismatch_ageing\` and the metric \`depositd_mismatch_value\`.\n`,
    '## Kinds\n',
    markdownTable(['Kind', 'Severity', 'Who is off', 'Loss', 'Ends', 'Act within'], kinds.map(summaryOf)),
    ...Object.entries(families).map(([family, means]) => familySection(family, means)),
  ].join('\n')
}

type Kind = [string, KindEntry]

const kinds: readonly Kind[] = Object.entries(mismatchKinds)

function summaryOf([kind, { severity, off, loss, ends, actWithinHours }]: Kind): string[] {
  const how = ends.byWaiting ? `${ends.by}, also late` : ends.by
  return [`[\`${kind}\`](#${kind})`, severity, off, loss.rule, how, `${actWithinHours} h`]
}

function familySection(family: string, means: string): string {
  const sections = kinds.filter(([, entry]) => entry.family === family).map(kindSection)
  return `## ${family.charAt(0).toUpperCase()}${family.slice(1)}\n\n${means}\n${sections.join('')}`
}

function kindSection([kind, { severity, off, loss, ends, actWithinHours, means, next }]: Kind): string {
  const waiting = ends.byWaiting ? '; what is missing may only be late' : ''
  return `
### ${kind}

${means}

- Severity: ${severity}
- Who is off: ${sides[off]}
- Loss: ${loss.rule}. ${loss.means}
- Ends: ${endings[ends.by]}${waiting}
- Act within: ${actWithinHours} h
- What to do: ${next}
- More: [runbook](runbook.md#${kind})
`
}

function coded([name, means]: [string, string]): string[] {
  return [`\`${name}\``, means]
}
