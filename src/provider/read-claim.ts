import { z } from 'zod'
import {
  type Address,
  type Asset,
  assetKey,
  type NetworkSettings,
  parseAddress,
  parseTxId,
} from '../core/asset.ts'
import { messageOf } from '../core/errors.ts'
import type { Claim, ClaimStatus, ServiceId } from '../core/evidence.ts'
import { type Amount, parseBaseUnits } from '../core/money.ts'

/** What is needed to translate the service's words: its networks and assets as the settings know them. */
export type Vocabulary = { networks: readonly NetworkSettings[]; creditAsset: Asset }

/** A claim, or the place in the payload that could not be read and why. */
export type Reading = { kind: 'claim'; claim: Claim } | { kind: 'unreadable'; path: string; problem: string }

export type Payload = { source: 'webhook' | 'api'; body: Buffer; receivedAt: Date }

export type ClaimReader = (payload: Payload) => Reading

/** Makes the reader of webhook bodies and API records. Nothing is guessed: what does not fit is named. */
export function createClaimReader(vocabulary: Vocabulary): ClaimReader {
  const schemas = { webhook: webhookSchema(vocabulary), api: recordSchema(vocabulary) }
  return ({ source, body, receivedAt }) => {
    const parsed = parseJson(body)
    if (parsed.kind === 'unreadable') return parsed
    const result = schemas[source].safeParse(parsed.value)
    if (result.success) return { kind: 'claim', claim: { kind: 'claim', source, receivedAt, ...result.data } }
    const [issue] = result.error.issues
    return {
      kind: 'unreadable',
      path: issue?.path.join('.') ?? '',
      problem: issue?.message ?? 'does not fit',
    }
  }
}

const statuses: ReadonlyMap<string, ClaimStatus> = new Map<string, ClaimStatus>([
  ['detected', 'observed'],
  ['confirmed', 'confirmed'],
  ['converting', 'settling'],
  ['forwarding', 'settling'],
  ['settled', 'settled'],
  ['credited', 'settled'],
  ['held', 'held'],
  ['refunding', 'held'],
  ['refunded', 'refunded'],
  ['failed', 'failed'],
])

const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text))
/** Without control characters and halves of characters: Postgres keeps neither NUL nor lone surrogates. */
const text = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'holds characters that cannot be kept')
const statusWord = z
  .string()
  .transform((word, context): ClaimStatus => statuses.get(word) ?? refuse(context, 'unknown status'))
const amount = z
  .string()
  .transform((digits, context): Amount => attempt(context, () => parseBaseUnits(digits)))

function recordSchema(vocabulary: Vocabulary) {
  const { shape } = claimSchema(vocabulary)
  return z
    .object({ ...shape, updated_at: time })
    .transform(({ updated_at: occurredAt, ...record }) => ({ ...toClaim(record), occurredAt }))
}

function webhookSchema(vocabulary: Vocabulary) {
  return z
    .object({ created_at: time, data: claimSchema(vocabulary) })
    .transform(({ created_at: occurredAt, data }) => ({ ...toClaim(data), occurredAt }))
}

type ReadRecord = z.output<ReturnType<typeof claimSchema>>

function toClaim({ id, owner, status, source, destination, fee }: ReadRecord) {
  return {
    serviceId: id as ServiceId,
    owner: { kind: owner.type, id: owner.id },
    status,
    deposit: source,
    settlement: { ...destination, fee: fee?.amount ?? null },
  }
}

function claimSchema(vocabulary: Vocabulary) {
  return z.object({
    id: text,
    owner: z.object({ type: z.enum(['channel', 'stable_wallet']), id: text }),
    status: statusWord,
    source: sourceSchema(vocabulary),
    destination: destinationSchema(vocabulary),
    fee: z.object({ amount }).nullable(),
  })
}

function sourceSchema({ networks }: Vocabulary) {
  return z
    .object({
      network: text,
      address: text,
      contract: text.nullable(),
      amount,
      transaction: text.nullable(),
      index: text.nullish(),
    })
    .transform((leg, context) => ({
      ...placeOf(leg, networks, context),
      amount: leg.amount,
      index: leg.index ?? null,
    }))
}

function destinationSchema({ networks, creditAsset }: Vocabulary) {
  return z
    .object({
      network: text.nullable(),
      address: text,
      contract: text.nullable(),
      amount: amount.nullable(),
      transaction: text.nullable(),
    })
    .transform(({ network, ...leg }, context) => ({
      ...(network === null
        ? { network: creditAsset.network, address: leg.address as Address, asset: creditAsset.key, tx: null }
        : placeOf({ ...leg, network }, networks, context)),
      amount: leg.amount,
    }))
}

type Leg = { network: string; address: string; contract: string | null; transaction: string | null }

/** Address, asset and transaction in the spelling used for comparing. Only assets of the settings are known. */
function placeOf(leg: Leg, networks: readonly NetworkSettings[], context: z.RefinementCtx) {
  const known = networks.find(({ name }) => name === leg.network)
  if (known === undefined) return refuse(context, `unknown network ${leg.network}`)
  const { family, name } = known
  return attempt(context, () => {
    const asset = assetKey(name, leg.contract === null ? 'native' : parseAddress(family, leg.contract))
    if (!known.assets.some(({ key }) => key === asset)) return refuse(context, `unknown asset ${asset}`)
    const tx = leg.transaction === null ? null : parseTxId(family, leg.transaction)
    return { network: name, address: parseAddress(family, leg.address), asset, tx }
  })
}

function attempt<Value>(context: z.RefinementCtx, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    return refuse(context, messageOf(error))
  }
}

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

function parseJson(
  body: Buffer,
): { kind: 'value'; value: unknown } | { kind: 'unreadable'; path: string; problem: string } {
  try {
    return { kind: 'value', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) }
  } catch {
    return { kind: 'unreadable', path: '', problem: 'is no JSON in UTF-8' }
  }
}
