import { z } from 'zod'
import { Fault, messageOf } from '../core/errors.ts'
import { recordHead } from './read-claim.ts'

export type ProviderSettings = { url: string; apiKey: string }

/** How one request ended, for metrics. */
export type ProviderOutcome = 'ok' | 'refused' | 'limited' | 'failed'

export type DepositPage = {
  /** Each record as its own JSON text, numbers digit for digit as they were sent. */
  records: readonly { id: string; createdAt: Date; text: string }[]
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
  { url, apiKey }: ProviderSettings,
  observe: (outcome: ProviderOutcome) => void = () => undefined,
): ProviderClient {
  const call = async <Body>(
    method: 'GET' | 'POST',
    path: string,
    rest: { body?: object; schema: z.ZodType<Body> },
  ) => {
    const what = `${method} ${path.replace(/\?.*/, '')}`
    const response = await send(what, new URL(path, url), { method, apiKey, body: rest.body }).catch(
      (error) => {
        observe('failed')
        throw error
      },
    )
    observe(response.ok ? 'ok' : outcomeOf(response.status))
    return readAnswer(what, response, rest.schema)
  }
  return {
    async listDeposits({ cursor, limit }) {
      const query = new URLSearchParams({ limit: limit.toString(), ...(cursor === null ? {} : { cursor }) })
      const page = await call('GET', `/v1/proxies/deposits?${query.toString()}`, { schema: pageSchema })
      const records = page.data.map((record) => ({
        id: record.id,
        createdAt: new Date(record.created_at),
        text: JSON.stringify(record),
      }))
      return { records, nextCursor: page.next_cursor }
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

const addresses = z.array(z.object({ network: z.string(), address: z.string() })).min(1)
const channelSchema = z.object({ id: z.string(), addresses })
const walletSchema = z.object({ stable_wallet: z.object({ id: z.string(), deposit_addresses: addresses }) })
const pageSchema = z.object({ data: z.array(recordHead), next_cursor: z.string().nullable() })

type Request = { method: string; apiKey: string; body: object | undefined }

async function send(what: string, url: URL, { method, apiKey, body }: Request): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: {
        'x-api-key': apiKey,
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      // A redirect could carry the key to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new Fault('remote_failed', { what, problem: messageOf(cause) }, { cause: error })
  }
}

async function readAnswer<Body>(what: string, response: Response, schema: z.ZodType<Body>): Promise<Body> {
  const text = await readBounded(what, response)
  if (!response.ok) {
    throw new Fault('remote_failed', { what, problem: `${response.status} ${text.slice(0, 300)}` })
  }
  const result = schema.safeParse(parseLossless(what, text))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Fault('remote_failed', {
    what,
    problem: `unexpected answer at ${issue?.path.join('.')}: ${issue?.message}`,
  })
}

async function readBounded(what: string, response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > responseBytesMax)
      throw new Fault('remote_failed', { what, problem: 'the answer is too large' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Parses JSON so that writing it again gives every number digit for digit, whatever its size. */
function parseLossless(what: string, text: string): unknown {
  try {
    return parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined ? rawJSON(source) : value,
    )
  } catch (error) {
    throw new Fault(
      'remote_failed',
      { what, problem: `the answer is no JSON: ${text.slice(0, 80)}` },
      { cause: error },
    )
  }
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
