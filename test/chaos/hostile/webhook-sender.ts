import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Where one process takes webhooks, past every proxy, and from which address of this machine they come. */
export type Sending = { url: string; localAddress?: string; agent?: Agent }

export type Webhook = { id: string; body: Buffer | string; headers: Record<string, string | string[]> }

export type Answer = { status: number; code: string }

/** By what, and when, a webhook is signed. The signer is our own: it shares no code with the verifier. */
export type Signer = { secret: string; at?: Date }

export function sign({ secret, at = new Date() }: Signer, id: string, body: Buffer | string): Webhook {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  return { id, body, headers }
}

/** A webhook that is genuine and tells of no deposit. */
export function signTest(signer: Signer, id: string): Webhook {
  const document = { id, type: 'endpoint.test', created_at: new Date().toISOString(), data: {} }
  return sign(signer, id, JSON.stringify(document))
}

/** Sends it; with status 0 where the connection ended without an answer. */
export async function send(sending: Sending, { body, headers }: Webhook): Promise<Answer> {
  const { url, localAddress, agent = false } = sending
  const bytes = Buffer.from(body)
  const chunked = headers['transfer-encoding'] === 'chunked'
  const length = chunked ? {} : { 'content-length': String(bytes.length) }
  try {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...length, ...headers },
      ...(localAddress !== undefined && { localAddress }),
    })
    sent.on('error', () => undefined)
    sent.end(bytes)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode ?? 0, code: codeIn(await text(response)) }
  } catch {
    return { status: 0, code: 'no answer' }
  }
}

function codeIn(answer: string): string {
  return /"(?:code|status)":"(\w+)"/.exec(answer)?.[1] ?? ''
}

export function keepAlive(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}
