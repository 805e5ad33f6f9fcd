import type { Vocabulary } from '../profile/known-assets.ts'
import { parseProfile } from '../profile/parse-profile.ts'
import { type ClaimReader, type ClaimReading, createClaimReader } from '../read-claim.ts'

/** How many of its samples a profile reads, and the first problems. */
export type ProfileTrial = {
  webhooks: { read: number; ignored: number; unread: number }
  records: { read: number; ignored: number; unread: number }
  problems: readonly string[]
}

export type TriedBodies = { webhooks: readonly Buffer[]; records: readonly Buffer[] }

/** More would repeat the same. */
const problemsMax = 5

/** Reads the samples with the profile as the daemon would. */
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
  const webhooks = bodies.webhooks.map((body) => readAs('webhook', body, read))
  const records = bodies.records.map((body) => readAs('api', body, read))
  const problems = [...webhooks, ...records].flatMap((reading) =>
    'problem' in reading ? [`${reading.path}: ${reading.problem}`] : [],
  )
  return {
    webhooks: counts(webhooks),
    records: counts(records),
    problems: [...new Set(problems)].slice(0, problemsMax),
  }
}

function readAs(source: 'webhook' | 'api', body: Buffer, read: ClaimReader): ClaimReading {
  return read({ source, body, receivedAt: new Date(0) })
}

function counts(readings: readonly ClaimReading[]): ProfileTrial['webhooks'] {
  const count = (kind: ClaimReading['kind']) => readings.filter((reading) => reading.kind === kind).length
  const [read, ignored] = [count('claim'), count('ignored')]
  return { read, ignored, unread: readings.length - read - ignored }
}
