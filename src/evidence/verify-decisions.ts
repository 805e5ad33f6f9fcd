import { problemsOfDecided } from '../people/decided-row.ts'
import { foldDecisions, type StoredDecision } from '../people/register.ts'
import type { BundleParts } from './bundle.ts'
import { type BundleCheck, judged, notDone } from './verify-bundle.ts'

const check = 'decisions'

/**
 * Each decision of a person among the evidence was signed by the people it names.
 * @param pinned the public key of the first administrator, from elsewhere; null to trust the bundle
 */
export function verifyDecisions({ evidence, decisions }: BundleParts, pinned: string | null): BundleCheck {
  const decided = evidence.filter(({ source, says }) => source === 'person' && says.by !== 'policy')
  if (decided.length === 0) return notDone(check, 'no person decided about it')
  const register = foldDecisions(decisions.map(storedDecision), pinned)
  const numbers = new Map(decisions.map(({ uuid, id }) => [uuid, BigInt(id)]))
  const problems = decided.flatMap(({ inbox, key, says }) => {
    const { by, approvedBy = null, reason, role, network, tx, index, to, verdict } = says
    const number = numbers.get(key) ?? null
    if (number === null) return [`row ${inbox} is decided by ${String(by)} without signatures`]
    const books = { role, transfer: [network, tx, index].join('/'), to, verdict }
    const people = { by: String(by), approvedBy: approvedBy as string | null, reason: String(reason) }
    const row = { what: `row ${inbox}`, decision: number, ...people, books }
    return problemsOfDecided(row, register.decisions.get(number))
  })
  const faults = register.faults.map(({ decision, problem }) => `decision ${decision}: ${problem}`)
  const begins =
    pinned === null
      ? `the register begins with ${register.firstKey}: compare it, or give the key with --administrator`
      : 'the register begins with the given key'
  return judged(check, [...faults, ...problems], `${decided.length} signed by the people named; ${begins}`)
}

function storedDecision({ id, events, ...rest }: BundleParts['decisions'][number]): StoredDecision {
  return { ...rest, id: BigInt(id), events: events.map((event) => ({ ...event, id: BigInt(event.id) })) }
}
