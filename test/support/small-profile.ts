import { parseProfile } from '../../src/provider/profile/parse-profile.ts'
import { type ClaimReading, createClaimReader } from '../../src/provider/read-claim.ts'
import { recipient } from './evidence.ts'
import { vocabulary } from './own-payloads.ts'

/** A profile of short names, its lines replaced by others where a test needs them. */
const usual = `
record:
  id: id
  owner: { kind: { otherwise: channel }, id: { paths: owner, otherwise: shop } }
  status: { paths: state, words: { done: settled, 'done*': failed, 'do*': held, '*ne': refunded } }
  occurredAt: { paths: at, presence: optional }
  deposit:
    network: net
    address: to
    asset: { paths: token, as: symbol }
    amount: amount
`

/** What it reads. */
export const document = { id: 'd1', state: 'done', net: 'base', to: recipient, token: 'USDC', amount: '7' }
export const receivedAt = new Date('2026-01-01T00:00:00Z')

/** Reads the document with changes by the profile with changes, as a record of the API. */
export function read(lines: Readonly<Record<string, string>>, changes: object = {}): ClaimReading {
  return readText(lines, JSON.stringify({ ...document, ...changes }))
}

/** Reads a text by the profile with changes. */
export function readText(
  lines: Readonly<Record<string, string>>,
  text: string,
  source: 'api' | 'webhook' = 'api',
): ClaimReading {
  const profileText = Object.entries(lines).reduce((whole, [from, to]) => {
    if (!whole.includes(from)) throw new Error(`there is no ${from}`)
    return whole.replace(from, to)
  }, usual)
  const { profile, faults } = parseProfile(profileText)
  if (profile === null) throw new Error(faults.join('\n'))
  return createClaimReader(profile, vocabulary)({ source, body: Buffer.from(text), receivedAt })
}
