import { z } from 'zod'
import { Fault, messageOf } from '../core/errors.ts'

export type ProviderSettings = {
  /** Every path is relative to it. */
  url: string
  apiKey: string
  /** How long one request may take, its answer included. */
  timeoutMs?: number
}

/** How one request ended, for metrics. */
export type ProviderOutcome = 'ok' | 'refused' | 'limited' | 'failed'

/** A record as it was listed. What paging needs of it is null where the record does not say it; it is kept all the same. */
export type PolledRecord = { id: string | null; createdAt: Date | null; text: string }

export type DepositPage = {
  /** Each record as its own JSON text, numbers digit for digit as they were sent. */
  records: readonly PolledRecord[]
  nextCursor: string | null
}

export type ProviderClient = {
  /** One page of deposits, newest first. */
  listDeposits: (page: { cursor: string | null; limit: number }) => Promise<DepositPage>
  createChannel: (channel: ChannelRequest) => Promise<CreatedOwner>
  createStableWallet: (wallet: { id: string }) => Promise<CreatedOwner>
}

export type ChannelRequest = {
  id: string
  forwardNetwork: string
  forwardAsset: string
  forwardRecipient: string
}

export type CreatedOwner = { id: string; addresses: readonly { network: string; address: string }[] }

const requestTimeoutMs = 15_000
const responseBytesMax = 16 * 1024 * 1024

/**
 * Speaks to the deposit service. Every call throws Fault `remote_failed`, which says what the service answered,
 * where the answer cannot be used.
 */
export function createProviderClient(
  settings: ProviderSettings,
  observe: (outcome: ProviderOutcome) => void = () => undefined,
): ProviderClient {
  const call = createCall(settings, observe)
  return {
    async listDeposits({ cursor, limit }) {
      const query = new URLSearchParams({ limit: limit.toString(), ...(cursor === null ? {} : { cursor }) })
      const page = await call('GET', `/v1/proxies/deposits?${query.toString()}`, { schema: pageSchema })
      return { records: page.data.map(toRecord), nextCursor: page.next_cursor }
    },
    async createChannel({ id, forwardNetwork, forwardAsset, forwardRecipient }) {
      const body = {
        id,
        forward_network: forwardNetwork,
        forward_asset: forwardAsset,
        forward_recipient: forwardRecipient,
      }
      return call('POST', '/v1/channels', { body, schema: channelSchema })
    },
    async createStableWallet(wallet) {
      const { stable_wallet: created } = await call('POST', '/v1/stable-wallets', {
        body: wallet,
        schema: walletSchema,
      })
      return { id: created.id, addresses: created.deposit_addresses }
    },
  }
}

/** One request, its answer read and checked; how it ended is told once. */
function createCall(settings: ProviderSettings, observe: (outcome: ProviderOutcome) => void) {
  return async <Body>(
    method: 'GET' | 'POST',
    path: string,
    { body, schema }: { body?: object; schema: z.ZodType<Body> },
  ) => {
    let outcome: ProviderOutcome = 'failed'
    try {
      const response = await send(settings, path, { method, body })
      const text = await readBounded(response)
      if (!response.ok) {
        outcome = outcomeOf(response.status)
        throw new Error(`${response.status} ${text.slice(0, 300)}`)
      }
      const answer = readAnswer(text, schema)
      outcome = 'ok'
      return answer
    } catch (error) {
      // Without the cause: errors of fetch repeat headers and addresses.
      const problem = withoutSecrets(problemOf(error), settings)
      throw new Fault('remote_failed', { what: `${method} ${path.replace(/\?.*/, '')}`, problem })
    } finally {
      observe(outcome)
    }
  }
}

const addresses = z.array(z.object({ network: z.string(), address: z.string() })).min(1)
const channelSchema = z.object({ id: z.string(), addresses })
const walletSchema = z.object({ stable_wallet: z.object({ id: z.string(), deposit_addresses: addresses }) })
const pageSchema = z.object({ data: z.array(z.unknown()), next_cursor: z.string().nullable() })
const recordHead = z.object({
  id: z.string().min(1).max(200).nullable().catch(null),
  created_at: z.iso.datetime({ offset: true }).nullable().catch(null),
})

function toRecord(record: unknown): PolledRecord {
  const head = recordHead.safeParse(record).data
  const created = head?.created_at ?? null
  return {
    id: head?.id ?? null,
    createdAt: created === null ? null : new Date(created),
    text: JSON.stringify(record),
  }
}

type Request = { method: string; body: object | undefined }

function send({ url, apiKey, timeoutMs }: ProviderSettings, path: string, { method, body }: Request) {
  return fetch(new URL(url.replace(/\/*$/, () => path)), {
    method,
    headers: {
      'x-api-key': apiKey,
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    // A redirect could carry the key to another host.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs ?? requestTimeoutMs),
  })
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > responseBytesMax) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function readAnswer<Body>(text: string, schema: z.ZodType<Body>): Body {
  const result = schema.safeParse(parseLossless(text))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Error(`unexpected answer at ${issue?.path.join('.')}: ${issue?.message}`)
}

/** Parses JSON so that writing it again gives every number digit for digit, whatever its size. */
function parseLossless(text: string): unknown {
  try {
    return parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined ? rawJSON(source) : value,
    )
  } catch (error) {
    throw new Error(`the answer is no JSON: ${text.slice(0, 80)}`, { cause: error })
  }
}

/** What failed, where `fetch` only says that it did. */
function problemOf(error: unknown): string {
  const isVague = error instanceof TypeError && error.cause !== undefined
  return messageOf(isVague ? error.cause : error)
}

/** A server may repeat what it was sent, and so does fetch where it refuses to send it. */
function withoutSecrets(text: string, { url, apiKey }: ProviderSettings): string {
  const secrets = [apiKey, new URL(url).password].filter((secret) => secret !== '')
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text)
}

/** The part of ECMAScript's JSON that TypeScript's library does not describe yet. */
type LosslessJson = {
  parse: (
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown
  rawJSON: (text: string) => unknown
}

const { parse, rawJSON } = JSON as unknown as LosslessJson

function outcomeOf(status: number): ProviderOutcome {
  if (status === 429) return 'limited'
  return status < 500 ? 'refused' : 'failed'
}
