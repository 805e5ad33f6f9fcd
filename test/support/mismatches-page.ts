import { mismatchKinds, type Severity } from '../../src/core/mismatch.ts'
import type {
  KindEntry,
  LossRule,
  ResolutionMethod,
  ResponsibleParty,
} from '../../src/core/mismatches/kind-entry.ts'
import { markdownTable } from './markdown.ts'

const severities: Record<Severity, string> = {
  severe: 'Money may be lost, owed by mistake, or sent to the wrong address.',
  warning: 'The sources differ. No money is known to be lost.',
  info: 'For information. No urgent action.',
}

export const responsibleParties: Record<ResponsibleParty, string> = {
  webhook: "the service's webhooks",
  api: "the service's API",
  service: 'the service',
  payer: 'the payer',
  chain: 'a chain or its nodes',
  settings: 'the mapping profile, the policy or the address book',
  books: 'the books',
  unknown: 'unknown until an operator investigates',
}

export const endings: Record<ResolutionMethod, string> = {
  evidence: 'automatically, once the evidence is corrected',
  replay:
    'with [`bin/depositd replay`](mapping.md#replay), once the profile can read the payload, which [`bin/depositd profile test`](mapping.md#try-a-profile) shows',
  person: 'only when an operator resolves it',
}

const lossRules: Record<LossRule, string> = {
  measured: 'an amount of one asset; empty if it is zero',
  none: 'this mismatch alone loses no money',
  unmeasured: 'any amount is possible; listed before all other mismatches of its severity',
}

const families: Record<KindEntry['family'], string> = {
  presence: 'A source does not report a step that it should report.',
  value: 'The sources state different amounts or assets.',
  identity: 'An address or an owner is wrong or unknown, or a transfer cannot be assigned to one deposit.',
  state: 'The service reports statuses or times that contradict each other, or a deposit does not progress.',
  chain: 'A chain changed its final history, or the data read from it is incomplete or contradictory.',
  coverage: 'The service refers to blocks or addresses that depositd has not read.',
  policy: 'A payment or delivery is outside of what the policy of its route accepts.',
  system: 'A payload cannot be read, a record is gone, or the books are inconsistent.',
}

/** `docs/mismatches.md`: every kind of mismatch, from the table that the program itself uses. */
export function mismatchesPage(): string {
  return [
    '<!-- Generated from src/core/mismatches/ by test/support/generate-docs.ts. Change it there. -->\n',
    '# Mismatches\n',
    `A mismatch is a problem with one deposit, transfer, payload, channel, wallet or network, or with the books of one
asset. It opens when the evidence, or the time that has passed, shows the problem. It clears as described for its kind,
and opens again if the problem returns. "Act within" is the time from opening until an operator should have acted.
Deadlines are settings: see [policy](settings.md#policy). The [runbook](runbook.md#mismatches) describes how to
investigate and resolve each kind.\n`,
    `List mismatches with \`bin/depositd mismatches list\`, or query the view \`accounting.mismatches\`. An operator can
resolve any mismatch by giving a reason: see [case work](case-work.md).\n`,
    '## Severities\n',
    markdownTable(['Severity', 'Meaning'], Object.entries(severities).map(coded)),
    '## Losses\n',
    `Each mismatch carries its loss: an amount of one asset, separate from the amount of the deposit. A delivery that is
short by 1 USDC is a loss of 1 USDC, regardless of the amount that was paid. The loss is the amount that the service
owes, or claims without proof, if the mismatch is what it appears to be. Each kind below describes how it is measured.\n`,
    markdownTable(['Loss', 'Meaning'], Object.entries(lossRules).map(coded)),
    `Mismatches are sorted by severity, then by loss: by its value if the asset has a
[price](accounting.md#values-in-a-currency), otherwise by its share of the amount owed, such as 10 % of a delivery.
Amounts of different assets are never compared. A price counts if it was valid when the mismatch opened. Sums are per
asset, or in the currency of the prices. Several mismatches about one transfer usually show the same loss, so sums count
only the largest loss of each asset: \`accounting.value_at_risk\`, \`accounting.mismatch_ageing\` and the metric
\`depositd_mismatch_value\`.\n`,
    '## Kinds\n',
    markdownTable(['Kind', 'Severity', 'Caused by', 'Loss', 'Ends', 'Act within'], kinds.map(summaryOf)),
    ...Object.entries(families).map(([family, means]) => familySection(family, means)),
  ].join('\n')
}

type Kind = [string, KindEntry]

const kinds: readonly Kind[] = Object.entries(mismatchKinds)

function summaryOf([
  kind,
  { severity, responsible, loss, endsBy, mayBeLate, actWithinHours },
]: Kind): string[] {
  const ending = mayBeLate ? `${endsBy}, or by itself if it was just late` : endsBy
  return [`[\`${kind}\`](#${kind})`, severity, responsible, loss, ending, `${actWithinHours} h`]
}

function familySection(family: string, means: string): string {
  const sections = kinds.filter(([, entry]) => entry.family === family).map(kindSection)
  return `## ${family.charAt(0).toUpperCase()}${family.slice(1)}\n\n${means}\n${sections.join('')}`
}

function kindSection([kind, entry]: Kind): string {
  const { severity, responsible, loss, lossMeans, endsBy, mayBeLate, actWithinHours, means, next } = entry
  const waiting = mayBeLate ? '; the missing evidence may just be late' : ''
  return `
### ${kind}

${means}

- Severity: ${severity}
- Caused by: ${responsibleParties[responsible]}
- Loss: ${loss}. ${lossMeans}
- Ends: ${endings[endsBy]}${waiting}
- Act within: ${actWithinHours} h
- What to do: ${next}
- More: [runbook](runbook.md#${kind})
`
}

function coded([name, means]: [string, string]): string[] {
  return [`\`${name}\``, means]
}
