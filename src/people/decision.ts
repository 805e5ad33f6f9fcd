import { z } from 'zod'
import { type NoteSigner, signNote, verifierKeyText } from '../ledger/checkpoint.ts'
import { decisionKinds, personRoles } from './roles.ts'

const schema = z.strictObject({
  decision: z.uuid(),
  /** Random, so that no text is signed twice. */
  nonce: z.string().min(16),
  at: z.iso.datetime(),
  /** The public key of the first administrator. */
  installation: z.string(),
  kind: z.enum(decisionKinds),
  /** How many must sign. */
  people: z.union([z.literal(1), z.literal(2)]),
  change: z.json(),
  grounds: z.strictObject({
    /** SHA-256 of the evidence that the decision rests on. */
    evidence: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
    /** What it writes into the books. */
    books: z.array(z.json()),
  }),
})

/** What a person signs. `change` is of a shape by kind. */
export type DecisionContent = z.infer<typeof schema>

export type DecisionGrounds = DecisionContent['grounds']

export type JsonValue = DecisionContent['change']

/** The body of a signed note, https://c2sp.org/signed-note. */
export function writeDecision(content: DecisionContent): string {
  return `${JSON.stringify(content, null, 2)}\n`
}

/** Null unless it is exactly what `writeDecision` writes: a text with two readings could be shown in one and done in the other. */
export function readDecision(text: string): DecisionContent | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  const { data } = schema.safeParse(parsed)
  return data !== undefined && writeDecision(data) === text ? data : null
}

export const personNameForm = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,99}$/u

export const personSchema = z.strictObject({
  person: z.string().regex(personNameForm),
  roles: z.array(z.enum(personRoles)),
  /** Public keys. */
  keys: z.array(z.string()),
})

/** Replaces what was decided about this person before. Without roles and keys, the person is removed. */
export type Person = z.infer<typeof personSchema>

export function readPerson(change: unknown): Person | null {
  return personSchema.safeParse(change).data ?? null
}

export type Signer = { person: string; key: string; sign: (text: string) => string }

/** A key has the name of its person. */
export function signerOf(key: NoteSigner): Signer {
  return { person: key.name, key: verifierKeyText(key), sign: (text) => signNote(text, key) }
}
