import { type ServiceSettings, type Settings, webhookSecretsSetting } from '../config/settings.ts'
import type { NetworkSettings } from '../core/asset.ts'
import { type GroupVerdict, rulesOf } from '../core/decide.ts'
import { Fault } from '../core/errors.ts'
import type { EvidenceRow, GroupEvidence } from '../store/books/load-evidence.ts'
import { type BundleParts, sealBundle, sha256Of } from './bundle.ts'
import { reportDecision } from './decide-bundle.ts'

export type BundleInput = {
  depositId: bigint
  evidence: GroupEvidence
  decision: GroupVerdict
  settings: Pick<Settings, 'policy' | 'routes' | 'senders' | 'contras' | 'networks' | 'creditAsset'>
  services: readonly (Pick<ServiceSettings, 'name' | 'webhooks'> & { profileText: string })[]
  at: Date
  version: string
}

/** Includes the group that the deposit is decided with; no server address and no secret. */
export function makeBundle(input: BundleInput): { text: string; sha256: string } {
  const { evidence, decision, settings, services, at, version } = input
  const rules = rulesOf(settings)
  const { group } = evidence
  return sealBundle(
    { at: at.toISOString(), by: `depositd ${version}` },
    {
      subject: subjectOf(input),
      evidence: evidence.rows.map(reportedRow),
      addressBook: group.approvals,
      policy: { ...rules, senders: [...rules.senders].toSorted() },
      services: Object.fromEntries(services.map(reportedService)),
      networks: settings.networks.map(reportedNetwork),
      credit: settings.creditAsset,
      known: group.deposits.map(({ id, ...known }) => ({ ...known, number: id })),
      openedAt: group.openedAt,
      verdict: { at, ...reportDecision(decision, evidence.rows, rules) },
      mismatches: evidence.mismatches,
      journals: group.journals.map((journal) => ({
        ...journal,
        recordedAt: evidence.recordedAt.get(journal.key),
      })),
      decisions: evidence.decisions,
    },
  )
}

function subjectOf({ depositId, evidence }: BundleInput): {
  [Name in keyof BundleParts['subject']]: unknown
} {
  const standing = evidence.deposits.filter(({ mergedInto }) => mergedInto === null)
  return { deposit: depositId, deposits: standing.map(({ id }) => id), group: evidence.group.id }
}

function reportedService({ name, webhooks, profileText }: BundleInput['services'][number]) {
  const profile = { text: profileText, sha256: sha256Of(profileText) }
  return [name, { webhooks: webhooks.signing, profile }] as const
}

function reportedRow({ inboxId, sourceKey, body, observation, ...row }: EvidenceRow) {
  const { service, source, headers, receivedAt, storedAt, copies } = row
  return {
    inbox: inboxId,
    service,
    source,
    key: sourceKey,
    receivedAt,
    storedAt,
    headers,
    body: body.toString('base64'),
    bodySha256: sha256Of(body),
    copies,
    says: observation,
  }
}

function reportedNetwork({ name, family, chainId, genesisHash, assets, reading }: NetworkSettings) {
  return { name, family, chainId, genesisHash, assets, reading }
}

/** A shorter secret also occurs in unrelated texts. */
const secretLengthMin = 8

/**
 * An external sender may have put a secret into a payload.
 * @throws Fault `usage_bad` if the document contains a secret; it names the setting, and never its value
 */
export function refuseSecrets(document: string, settings: Settings): void {
  const bodies = [...document.matchAll(/"body": "([^"]+)"/g)].map(([, body = '']) =>
    Buffer.from(body, 'base64').toString(),
  )
  const texts = [document, ...bodies]
  const held = secretsOf(settings).find(
    ({ text }) =>
      text.length >= secretLengthMin &&
      texts.some((one) => one.includes(text) || one.includes(JSON.stringify(text).slice(1, -1))),
  )
  if (held === undefined) return
  throw new Fault('usage_bad', {
    problem: `a payload of this deposit contains the value of ${held.name}`,
    fix: 'replace that secret, because the sender of the payload knows it; then export the bundle again',
  })
}

function secretsOf({ services, networks, databaseUrl, queueUrl }: Settings) {
  return [
    ...services.flatMap(({ auth }) => auth.secrets),
    ...services.flatMap(({ name, webhooks }) =>
      webhooks.keys.secrets.map(({ text }) => ({ name: webhookSecretsSetting(name), text })),
    ),
    ...networks.flatMap(({ name, rpcUrls }) =>
      rpcUrls.map((text) => ({ name: `RPC_${name.toUpperCase()}`, text })),
    ),
    { name: 'DATABASE_URL', text: databaseUrl },
    { name: 'QUEUE_URL', text: queueUrl },
  ]
}
