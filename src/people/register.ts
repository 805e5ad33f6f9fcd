import { type DecisionContent, type Person, readDecision, readPerson, writeDecision } from './decision.ts'
import { readPersonKey } from './person-key.ts'
import { requesters } from './roles.ts'

/** `signature` is a line of a signed note, or what a passkey returned. An `outdated` decision rests on what has changed since it was requested. */
export type DecisionEvent = {
  id: bigint
  action: 'signed' | 'rejected' | 'outdated'
  person: string
  signature: string | null
}

export type StoredDecision = {
  id: bigint
  uuid: string
  kind: string
  people: number
  text: string
  events: readonly DecisionEvent[]
}

export type DecisionState = 'waiting' | 'done' | 'rejected' | 'outdated'

export type CheckedDecision = {
  /** Null if the text is no decision. */
  content: DecisionContent | null
  state: DecisionState
  /** Whose signatures are valid, in order. */
  signers: readonly string[]
}

/** Who may decide, by valid decisions alone. */
export type PeopleRegister = {
  /** The public key of the first administrator; null if there is none. */
  firstKey: string | null
  people: ReadonlyMap<string, Person>
  decisions: ReadonlyMap<bigint, CheckedDecision>
  faults: readonly { decision: bigint; problem: string }[]
}

type Fold = {
  firstKey: string | null
  people: Map<string, Person>
  decisions: Map<bigint, CheckedDecision>
  faults: { decision: bigint; problem: string }[]
}

/**
 * Takes every event in order. A signature counts if its key belonged to its person at that point, and the person had
 * the role.
 * @param pinned the public key of the first administrator, from outside the database; null to trust the first decision
 */
export function foldDecisions(decisions: readonly StoredDecision[], pinned: string | null): PeopleRegister {
  const fold: Fold = { firstKey: null, people: new Map(), decisions: new Map(), faults: [] }
  for (const decision of decisions) {
    const read = readDecision(decision.text)
    const problem = read === null ? 'its text is no decision' : problemOfText(decision, read)
    const content = problem === null ? read : null
    fold.decisions.set(decision.id, { content, state: 'waiting', signers: [] })
    if (problem !== null) fold.faults.push({ decision: decision.id, problem })
  }
  const events = decisions.flatMap((decision) => decision.events.map((event) => ({ decision, event })))
  for (const { decision, event } of events.toSorted((one, other) => (one.event.id < other.event.id ? -1 : 1)))
    takeEvent(fold, { decision, event }, pinned)
  return fold
}

function problemOfText(row: StoredDecision, content: DecisionContent): string | null {
  const { decision, kind, people } = content
  if (row.uuid !== decision || row.kind !== kind || row.people !== people)
    return 'its row does not say what its text says'
  return people < leastPeople(content) ? 'it takes two people' : null
}

/** Of the others, the settings say which one person may make. */
function leastPeople({ kind, change }: DecisionContent): 1 | 2 {
  if (alwaysTwo.has(kind)) return 2
  const isForced =
    change !== null && typeof change === 'object' && 'forced' in change && change.forced === true
  return kind === 'close' && isForced ? 2 : 1
}

const alwaysTwo: ReadonlySet<DecisionContent['kind']> = new Set([
  'journal',
  'reversal',
  'reopen',
  'opening',
  'restore',
])

type DecisionWithEvent = { decision: StoredDecision; event: DecisionEvent }

function takeEvent(fold: Fold, { decision, event }: DecisionWithEvent, pinned: string | null): void {
  const checked = fold.decisions.get(decision.id)
  if (checked === undefined) return
  const problem =
    checked.state === 'waiting'
      ? problemOf(fold, { ...checked, event }, pinned)
      : `it was ${checked.state} already`
  if (problem !== null) {
    fold.faults.push({ decision: decision.id, problem: `${event.action} by ${event.person}: ${problem}` })
    return
  }
  if (event.action === 'signed') return takeSignature(fold, { decision, event })
  fold.decisions.set(decision.id, { ...checked, state: event.action })
}

function takeSignature(fold: Fold, { decision, event }: DecisionWithEvent): void {
  const checked = fold.decisions.get(decision.id)
  if (checked?.content == null) return
  const { content } = checked
  const signers = [...checked.signers, event.person]
  const isDone = signers.length === content.people
  fold.decisions.set(decision.id, { content, signers, state: isDone ? 'done' : 'waiting' })
  const person = content.kind === 'person' && isDone ? readPerson(content.change) : null
  if (person === null) return
  fold.firstKey ??= content.installation
  if (person.roles.length + person.keys.length === 0) fold.people.delete(person.person.toLowerCase())
  else fold.people.set(person.person.toLowerCase(), person)
}

function problemOf(
  fold: Fold,
  { content, signers, event }: CheckedDecision & { event: DecisionEvent },
  pinned: string | null,
): string | null {
  if (event.action !== 'signed') return null
  if (content === null) return 'the text is no decision'
  const { firstKey, people } = fold
  const signer = firstKey === null ? firstPerson(content, pinned) : people.get(event.person.toLowerCase())
  if (signer === undefined) return 'is not in the register'
  if (firstKey !== null && content.installation !== firstKey) return 'it is of another installation'
  return (
    problemOfSigner({ content, signers, event }, signer) ??
    (content.kind === 'person' ? problemOfPerson(fold, content) : null)
  )
}

type Signature = { content: DecisionContent; signers: readonly string[]; event: DecisionEvent }

function problemOfSigner({ content, signers, event }: Signature, signer: Person): string | null {
  if (signers.some((name) => isSame(name, event.person))) return 'signed it before'
  const role = signers.length === 0 ? requesters[content.kind] : 'approver'
  if (!signer.roles.includes(role)) return `is no ${role}`
  return isValid({ content, event }, signer) ? null : 'the signature is not valid'
}

/** The first administrator enters the register by their own signature. */
function firstPerson(
  { kind, change, installation }: DecisionContent,
  pinned: string | null,
): Person | undefined {
  const person = kind === 'person' ? readPerson(change) : null
  if (person === null || !person.keys.includes(installation)) return undefined
  return pinned === null || pinned === installation ? person : undefined
}

function isValid({ content, event }: Omit<Signature, 'signers'>, { keys }: Person): boolean {
  const text = writeDecision(content)
  return keys.some((key) => readPersonKey(key)?.hasSigned(text, event.signature ?? '') === true)
}

/** Null if the register may take this decision. */
export function problemOfPerson(
  { people }: Pick<PeopleRegister, 'people'>,
  { change }: Pick<DecisionContent, 'change'>,
): string | null {
  const person = readPerson(change)
  if (person === null) return 'it names no person'
  const others = [...people.values()].filter((other) => !isSame(other.person, person.person))
  const keys = person.keys.map(readPersonKey)
  if (keys.some((key) => key?.person !== person.person)) return `a key is no public key of ${person.person}`
  const taken = new Set(others.flatMap((other) => other.keys.map((key) => readPersonKey(key)?.publicKey)))
  if (keys.some((key) => taken.has(key?.publicKey))) return 'a key belongs to another person'
  const remains = [...others, person].some(
    (one) => one.roles.includes('administrator') && one.keys.length > 0,
  )
  return remains ? null : 'no administrator with a key would remain'
}

export function isSame(person: string, other: string): boolean {
  return person.toLowerCase() === other.toLowerCase()
}
