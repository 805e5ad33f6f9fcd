import { defaultReading } from '../chain/options.ts'
import type { Asset, NetworkSettings } from '../core/asset.ts'
import { Fault, lineOf } from '../core/errors.ts'
import { decodeObservation, defaultService, itemOf, type ServiceName } from '../core/evidence.ts'
import type { StoredObservation } from '../core/explaining/verdict-reason.ts'
import { walletHeader, withdrawalSubject } from '../core/withdrawal-claim.ts'
import { createScheme } from '../intake/signature/create-scheme.ts'
import type { Keys, SchemeSettings } from '../intake/signature/scheme.ts'
import { parseProfile } from '../provider/profile/parse-profile.ts'
import {
  type AnyServiceReader,
  createServiceReader,
  readerOfServices,
  type ServiceReader,
} from '../provider/read-evidence.ts'
import { type Bundle, type BundleParts, canonicalText, hashesOf, parseBundle, sha256Of } from './bundle.ts'
import { decideAgain } from './decide-bundle.ts'

/** `bundle` is null if the document is not one. */
export type BundleVerification = {
  checks: BundleCheck[]
  bundle: Bundle | null
  stored: readonly StoredObservation[]
}

/** These checks need no database, secret or chain. */
export function verifyBundle(document: string): BundleVerification {
  const { bundle, problem } = parseBundle(document)
  const form = judged('form', problem === null ? [] : [problem], 'formatted as a bundle of this version')
  if (bundle === null) return { checks: [form], bundle, stored: [] }
  const { parts } = bundle
  const { stored, problems } = readAgain(parts)
  const checks = [
    form,
    checked('hashes', `every part and the whole, ${bundle.sha256.whole}`, () => hashProblems(bundle)),
    checked('bodies', `${parts.evidence.length} bodies and the profile have their hashes`, () =>
      bodyProblems(parts),
    ),
    judged('readings', problems, 'each body, read by the profile, gives what the bundle states'),
    checked('verdict', 'the evidence, decided again, gives this verdict with these reasons', () =>
      verdictProblems(parts, stored),
    ),
    checked('mismatches', 'the open mismatches are those of the verdict', () => mismatchProblems(parts)),
    checked('journals', 'the books hold what the verdict asks for, and nothing else', () =>
      checkJournals(parts),
    ),
  ]
  return { checks, bundle, stored }
}

function hashProblems(bundle: Bundle): Problems {
  const hashes = hashesOf(bundle)
  const names = new Set([...Object.keys(hashes.parts), ...Object.keys(bundle.sha256.parts)])
  const ofParts = [...names].filter((name) => hashes.parts[name] !== bundle.sha256.parts[name])
  const isWhole = hashes.whole === bundle.sha256.whole
  return [...ofParts.map((name) => `part ${name}`), ...(isWhole ? [] : ['the whole'])].map(
    (what) => `${what} has another hash`,
  )
}

function bodyProblems({ evidence, services }: BundleParts): Problems {
  const bodies = evidence.filter(({ body, bodySha256 }) => sha256Of(bytesOf(body)) !== bodySha256)
  const altered = Object.entries(services).filter(
    ([, { profile }]) => sha256Of(profile.text) !== profile.sha256,
  )
  return [
    ...bodies.map(({ inbox }) => `the body of row ${inbox} has another hash`),
    ...altered.map(([name]) => `the profile of the service ${name} has another hash`),
  ]
}

function bytesOf(body: string): Buffer {
  return Buffer.from(body, 'base64')
}

function readAgain(parts: BundleParts): { stored: StoredObservation[]; problems: string[] } {
  const stored: StoredObservation[] = []
  const problems: string[] = []
  const readClaim = readerOf(parts)
  for (const row of parts.evidence) {
    try {
      const observation = readRow(row, readClaim)
      stored.push({ inboxId: BigInt(row.inbox), observation })
      if (canonicalText(observation) !== canonicalText(row.says))
        problems.push(`the body of row ${row.inbox} states something else`)
    } catch (error) {
      problems.push(`row ${row.inbox}: ${error instanceof Error ? error.message : 'cannot be read'}`)
    }
  }
  return { stored, problems }
}

type BundleEvidenceRow = BundleParts['evidence'][number]

function readRow({ source, inbox, headers, ...row }: BundleEvidenceRow, readClaim: AnyServiceReader) {
  const body = bytesOf(row.body)
  if (source === 'chain' || source === 'person') return decodeObservation(body.toString())
  const service = row.service as ServiceName
  const receivedAt = new Date(row.receivedAt)
  const kept = { item: itemOf(headers), wallet: headers[walletHeader] }
  const reading = readClaim({ source, service, body, receivedAt, ...kept })
  if (reading.kind === 'claim') return reading.claim
  if (reading.kind === 'withdrawal') return reading.withdrawal
  const problem = 'problem' in reading ? `${reading.path} ${reading.problem}` : 'it is skipped'
  throw new Fault('usage_bad', { problem: `the profile cannot read row ${inbox}: ${problem}`, fix: '' })
}

/** If the profile cannot be parsed, the reader reports that for each body. */
function readerOf({ services, networks, credit }: BundleParts): AnyServiceReader {
  const vocabulary = {
    networks: networks.map((network) => networkOf(network, [])),
    creditAsset: credit as Asset,
  }
  const readers = Object.entries(services).map(([name, service]): [ServiceName, ServiceReader] => {
    const { profile, faults } = parseProfile(service.profile.text)
    const unparsed = { path: 'profile', problem: faults.join('; '), value: null, fix: 'correct the profile' }
    return profile === null
      ? [name as ServiceName, () => ({ kind: 'schema_drift', ...unparsed })]
      : [name as ServiceName, createServiceReader(profile, vocabulary, name as ServiceName)]
  })
  return readerOfServices(new Map(readers))
}

/** All given nodes must agree, regardless of the quorum before. */
export function networkOf(
  network: BundleParts['networks'][number],
  rpcUrls: readonly string[],
): NetworkSettings {
  const reading = { ...defaultReading, ...network.reading, quorum: Math.max(1, rpcUrls.length) }
  // The reader refuses values that are not names or addresses.
  return { ...network, reading, rpcUrls } as unknown as NetworkSettings
}

function verdictProblems(parts: BundleParts, stored: readonly StoredObservation[]): Problems {
  const again = decideAgain(parts, stored)
  const { at: _at, ...verdict } = parts.verdict
  const altered = verdict.deposits.flatMap((reported, place) =>
    differences(reported, again.deposits[place], `deposit ${String(reported.id)}`),
  )
  const isSame = canonicalText(again) === canonicalText(verdict)
  return isSame || altered.length > 0 ? altered : ['other deposits, unmatched deliveries or withdrawals']
}

function differences(
  reported: Record<string, unknown>,
  again: Record<string, unknown> | undefined,
  of: string,
): string[] {
  if (again === undefined) return [`this evidence does not decide ${of}`]
  const names = [...new Set([...Object.keys(reported), ...Object.keys(again)])]
  return names
    .filter((name) => canonicalText(reported[name] ?? null) !== canonicalText(again[name] ?? null))
    .map((name) => `${of}: ${name} differs from what the evidence gives`)
}

/** Only evidence clears a mismatch: a resolved one still counts as open. */
function mismatchProblems({ verdict, mismatches }: BundleParts): Problems {
  const reported = mismatches.filter(({ clearedAt }) => clearedAt === null).map(textOfMismatch)
  const held = [
    ...verdict.deposits.flatMap(({ id, mismatches: found }) =>
      (found as Record<string, unknown>[]).map((one) => ({ ...one, subject: `deposit/${String(id)}` })),
    ),
    ...verdict.unmatchedDeliveries.map((one) => ({ ...one, subject: `transfer/${String(one.transfer)}` })),
    ...verdict.withdrawals.flatMap(mismatchOfWithdrawal),
  ].map(textOfMismatch)
  return [
    ...held.filter((one) => !reported.includes(one)).map((one) => `missing: ${one}`),
    ...reported.filter((one) => !held.includes(one)).map((one) => `not in the verdict: ${one}`),
  ]
}

function mismatchOfWithdrawal({ claim, mismatch }: Record<string, unknown>): Record<string, unknown>[] {
  const { wallet, withdrawalId } = claim as Record<string, unknown>
  if (mismatch === null) return []
  const subject = withdrawalSubject({ wallet: String(wallet), withdrawalId: String(withdrawalId) })
  return [{ ...(mismatch as object), subject }]
}

function textOfMismatch({ subject, kind, detail }: Record<string, unknown>): string {
  return canonicalText([subject, kind, detail])
}

type BundleJournal = BundleParts['journals'][number] & {
  transfers?: readonly { debit: unknown; credit: unknown }[]
}

/** Also compares every reversal with the journal that it reverses. */
function checkJournals({ verdict, journals }: BundleParts): Problems {
  const due = [...verdict.deposits.flatMap(({ toBook }) => toBook), ...verdict.toBook] as { key: string }[]
  const keys = journals.map(({ key }) => key)
  const twice = keys.filter((key, place) => keys.indexOf(key) !== place)
  const reversals = journals.filter(({ kind }) => kind === 'reversal')
  return [
    ...due.map(({ key }) => `missing from the books, or not reversed: ${key}`),
    ...twice.map((key) => `booked twice: ${String(key)}`),
    ...reversals
      .filter((one) => !mirrorsOriginal(one, journals))
      .map(({ key }) => `${String(key)} does not mirror the journal that it reverses`),
  ]
}

function mirrorsOriginal(reversal: BundleJournal, journals: readonly BundleJournal[]): boolean {
  const original = journals.find(({ key }) => key === reversal.reverses)
  const swapped = original?.transfers?.map((one) => ({ ...one, debit: one.credit, credit: one.debit }))
  return swapped !== undefined && canonicalText(swapped) === canonicalText(reversal.transfers)
}

const signatureCheck = 'signatures'

/** One check for each service. With the auditor's own keys: those of the bundle's maker would prove nothing. */
export function verifySignatures(
  { evidence, services }: BundleParts,
  keysOf: (service: ServiceName) => Keys,
): BundleCheck[] {
  const webhooks = evidence.filter(({ source }) => source === 'webhook')
  if (webhooks.length === 0) return [notDone(signatureCheck, 'there are no webhooks')]
  const ofServices = Map.groupBy(webhooks, ({ service }) => service as ServiceName)
  return [...ofServices].map(([service, rows]) => {
    const check = service === defaultService ? signatureCheck : `${signatureCheck} ${service}`
    const signing = services[service]?.webhooks as SchemeSettings
    return verifyRows({ check, signing, keys: keysOf(service) }, rows)
  })
}

type SignatureCheck = { check: string; signing: SchemeSettings; keys: Keys }

function verifyRows({ check, signing, keys }: SignatureCheck, rows: BundleParts['evidence']): BundleCheck {
  const { secretsSetting = '' } = keys
  if (keys.secrets.length === 0 && keys.publicKeys === null)
    return notDone(check, `set ${secretsSetting}, or use --public-keys, to verify the webhooks`)
  if (signing.scheme === 'none')
    return judged(check, ['keys are given, but the bundle states that webhooks are not signed'], '')
  if (signing.scheme === 'shared-secret')
    return notDone(check, 'only a hash of a shared secret is stored, and it proves nothing about a body')
  return checked(check, `${rows.length} webhooks are signed by one of the given keys`, () => {
    const verify = createScheme(signing, keys)
    return rows.flatMap(({ inbox, headers, body, receivedAt }) => {
      const verdict = verify({ headers, body: bytesOf(body), receivedAt: new Date(receivedAt) })
      return verdict.kind === 'refused' ? [`row ${inbox}: ${verdict.reason}`] : []
    })
  })
}

/** `not done` proves nothing, and is not a failure. */
export type BundleCheck = { check: string; outcome: 'passed' | 'failed' | 'not done'; says: string }

type Problems = readonly string[]

export function judged(check: string, problems: Problems, proved: string): BundleCheck {
  return problems.length === 0
    ? { check, outcome: 'passed', says: proved }
    : { check, outcome: 'failed', says: joinProblems(problems) }
}

export function notDone(check: string, says: string): BundleCheck {
  return { check, outcome: 'not done', says }
}

/** A document may contain anything, so a thrown error is a problem of the document. */
function checked(check: string, proved: string, find: () => Problems): BundleCheck {
  try {
    return judged(check, find(), proved)
  } catch (error) {
    return judged(check, [lineOf(error)], proved)
  }
}

const reportedMax = 5

function joinProblems(problems: Problems): string {
  const more = problems.length - reportedMax
  return [...problems.slice(0, reportedMax), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
