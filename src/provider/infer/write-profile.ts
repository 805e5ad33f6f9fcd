import { Document, isMap, isNode, isScalar, type Node, visit } from 'yaml'
import type { Vocabulary } from '../profile/known-assets.ts'
import { parseProfile } from '../profile/parse-profile.ts'
import type { FieldProof } from '../prove/proof.ts'
import { type ClaimReading, createClaimReader, readItems } from '../read-claim.ts'
import type { Section } from './find-records.ts'
import type { ProfileDraft } from './infer-profile.ts'

const flowKeysMax = 4

type RemarkedProfile = ProfileDraft | { profile: Section; proofs: readonly FieldProof[] }

/** With the proof or the doubt of each line. */
export function writeProfile(remarked: RemarkedProfile, heading: readonly string[]): string {
  const document = new Document(remarked.profile)
  document.commentBefore = heading.map((line) => ` ${line}`).join('\n')
  for (const { path, text } of remarksOn(remarked)) {
    const node = document.getIn(path, true)
    if (isNode(node)) mark(node, ` ${text}`)
  }
  visit(document, {
    Map(_key, node) {
      if (node.items.length <= flowKeysMax && node.items.every(isPlain)) node.flow = true
    },
    Seq(_key, node) {
      node.flow = true
    },
  })
  return document.toString({ lineWidth: 110, singleQuote: true })
}

function remarksOn(remarked: RemarkedProfile): { path: readonly string[]; text: string }[] {
  if ('doubts' in remarked)
    return remarked.doubts.map(({ path, text }) => ({ path, text: `unsure: ${text}` }))
  return remarked.proofs.map(({ path, proof }) => ({ path, text: remarkOf(proof) }))
}

function remarkOf(proof: FieldProof['proof']): string {
  if (proof.kind === 'proved') return `proved: ${proof.by}`
  const { why, alternatives } = proof
  return `unsure: ${why}${alternatives.length === 0 ? '' : `; alternatives: ${alternatives.join(', ')}`}`
}

/** A field of several keys stays on one line, before its comment. */
function mark(node: Node, comment: string): void {
  if (isMap(node)) node.flow = true
  node.comment = comment
}

/** A comment ends its line, so a commented value cannot be inside braces. */
function isPlain({ value }: { value: unknown }): boolean {
  if (isMap(value)) return false
  return !isScalar(value) || value.comment === undefined || value.comment === null
}

export type ProfileTrial = {
  webhooks: { read: number; ignored: number; unread: number }
  records: { read: number; ignored: number; unread: number }
  problems: readonly string[]
}

type TriedBodies = { webhooks: readonly Buffer[]; records: readonly Buffer[] }

const problemsMax = 5

/** As the daemon would. */
export function tryProfile(text: string, bodies: TriedBodies, vocabulary: Vocabulary): ProfileTrial {
  const { profile, faults } = parseProfile(text)
  const none = { read: 0, ignored: 0 }
  if (profile === null)
    return {
      webhooks: { ...none, unread: bodies.webhooks.length },
      records: { ...none, unread: bodies.records.length },
      problems: faults.slice(0, problemsMax),
    }
  const read = createClaimReader(profile, vocabulary)
  const receivedAt = new Date(0)
  const webhooks = bodies.webhooks.flatMap((body) => readItems(read, { source: 'webhook', body, receivedAt }))
  const records = bodies.records.map((body) => read({ source: 'api', body, receivedAt }))
  const problems = [...webhooks, ...records].flatMap((reading) =>
    'problem' in reading ? [`${reading.path}: ${reading.problem}`] : [],
  )
  return {
    webhooks: counts(webhooks),
    records: counts(records),
    problems: [...new Set(problems)].slice(0, problemsMax),
  }
}

function counts(readings: readonly ClaimReading[]): ProfileTrial['webhooks'] {
  const count = (kind: ClaimReading['kind']) => readings.filter((reading) => reading.kind === kind).length
  const [read, ignored] = [count('claim'), count('ignored')]
  return { read, ignored, unread: readings.length - read - ignored }
}
