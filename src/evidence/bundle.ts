import { createHash } from 'node:crypto'
import { z } from 'zod'

const bundleFormat = 'depositd-evidence/1'

const text = z.string()
const time = z.iso.datetime()
const integer = z.string().regex(/^-?\d{1,78}$/, 'is not an integer')
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 hash')
const anything = z.record(text, z.unknown())

const row = z.strictObject({
  inbox: integer,
  service: text,
  source: z.enum(['webhook', 'api', 'chain', 'person']),
  /** Unique among everything that its source sent. */
  key: text,
  receivedAt: time,
  storedAt: time,
  /** Credentials only as hashes. */
  headers: z.record(text, text),
  body: z.base64(),
  bodySha256: hash,
  copies: z.strictObject({ count: integer, firstAt: time, lastAt: time, newestAt: z.array(time) }).nullable(),
  says: anything,
})

const decision = z.strictObject({
  id: integer,
  uuid: text,
  kind: text,
  people: z.int(),
  text,
  events: z.array(
    z.strictObject({
      id: integer,
      action: z.enum(['signed', 'rejected', 'outdated']),
      person: text,
      signature: text.nullable(),
    }),
  ),
})

const asset = z.strictObject({ key: text, network: text, symbol: text, decimals: z.int() })

const network = z.strictObject({
  name: text,
  family: z.enum(['evm', 'solana']),
  chainId: z.int().nullable(),
  genesisHash: text.optional(),
  assets: z.array(asset),
  reading: anything.optional(),
})

const parts = z.strictObject({
  subject: z.strictObject({ deposit: integer, deposits: z.array(integer), group: integer }),
  evidence: z.array(row),
  addressBook: z.array(anything),
  policy: z.strictObject({
    policy: anything,
    routes: z.array(anything),
    senders: z.array(text),
    contras: z.array(anything),
  }),
  /** By name: how its webhooks are signed, and the text of its mapping profile. */
  services: z.record(
    text,
    z.strictObject({ webhooks: anything, profile: z.strictObject({ text, sha256: hash }) }),
  ),
  networks: z.array(network),
  credit: asset,
  /** The deposits' numbers, and what identified each before. */
  known: z.array(anything),
  /** When the books begin; null without opening balances. */
  openedAt: time.nullable(),
  verdict: z.strictObject({
    at: time,
    deposits: z.array(anything),
    unmatchedDeliveries: z.array(anything),
    withdrawals: z.array(anything),
    /** Journals of withdrawals. */
    toBook: z.array(anything),
  }),
  mismatches: z.array(anything),
  journals: z.array(anything),
  /** Signed decisions of people about it, and about these people, with the texts as they were signed. */
  decisions: z.array(decision),
})

export type BundleParts = z.output<typeof parts>

const schema = z.strictObject({
  format: z.literal(bundleFormat, `this version of depositd only reads ${bundleFormat}`),
  made: z.strictObject({ at: time, by: text }),
  parts,
  sha256: z.strictObject({ parts: z.record(text, hash), whole: hash }),
})

export type Bundle = z.output<typeof schema>

/** @returns the document, byte for byte as its file must be */
export function sealBundle(made: Bundle['made'], unsealed: { [Name in keyof BundleParts]: unknown }) {
  const open = { format: bundleFormat, made, parts: plain(unsealed) as BundleParts } as const
  const sha256 = hashesOf(open)
  return { text: documentText({ ...open, sha256 }), sha256: sha256.whole }
}

export function hashesOf({ format, made, parts: all }: Omit<Bundle, 'sha256'>): Bundle['sha256'] {
  const ofParts = Object.entries(all).map(([name, part]) => [name, sha256Of(canonicalText(part))])
  const hashes = { parts: Object.fromEntries(ofParts) as Record<string, string> }
  return { ...hashes, whole: sha256Of(canonicalText({ format, made, parts: all, sha256: hashes })) }
}

/** A text that is not in canonical form is a problem. */
export function parseBundle(document: string): { bundle: Bundle | null; problem: string | null } {
  const value = parseJson(document)
  if (value === undefined) return { bundle: null, problem: 'it is not JSON, or is incomplete' }
  const result = schema.safeParse(value)
  if (!result.success) {
    const [issue] = result.error.issues
    return { bundle: null, problem: `${issue?.path.join('.') || 'the document'}: ${issue?.message}` }
  }
  const isCanonical = documentText(value) === document
  const problem = isCanonical
    ? null
    : 'it is not formatted as a bundle: it differs from the output of "jq -S ."'
  return { bundle: result.data, problem }
}

function parseJson(document: string): unknown {
  try {
    return JSON.parse(document)
  } catch {
    return undefined
  }
}

/** `bigint` becomes decimal text, times ISO text, maps and sets lists; undefined fields are omitted. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Map || value instanceof Set) return [...value].map(plain)
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : plain(item)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, plain(item)]),
  )
}

/** The output of `jq -cS`, which is hashed. */
export function canonicalText(value: unknown): string {
  return textOf(plain(value), dense, 0)
}

/** The output of `jq -S`, with its line break. */
export function documentText(value: unknown): string {
  return `${textOf(plain(value), spacious, 0)}\n`
}

export function sha256Of(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

type Layout = { colon: string; line: (depth: number) => string }

const dense: Layout = { colon: ':', line: () => '' }
const spacious: Layout = { colon: ': ', line: (depth) => `\n${'  '.repeat(depth)}` }

/** JavaScript lists numeric keys before all others. */
function textOf(value: unknown, layout: Layout, depth: number): string {
  if (typeof value !== 'object' || value === null) return atomText(value)
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => textOf(item, layout, depth + 1))
    : Object.entries(value)
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([name, item]) => atomText(name) + layout.colon + textOf(item, layout, depth + 1))
  const [open, close] = isList ? '[]' : '{}'
  if (items.length === 0) return `${open}${close}`
  const start = layout.line(depth + 1)
  return `${open}${start}${items.join(`,${start}`)}${layout.line(depth)}${close}`
}

/** jq escapes one character that JavaScript does not. */
function atomText(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}
