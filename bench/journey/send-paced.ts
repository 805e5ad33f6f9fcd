import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { signStandardWebhook } from '../../test/support/sign-webhook.ts'

export type Webhook = { id: string; body: Buffer }

type Pace<One> = { perSecond: number; secret: string; began: (webhook: One, at: number) => void }

const connections = 64

/**
 * Sends webhooks at an even pace, of which up to 64 wait for their answer; without a pace where that is infinite. `began`
 * is told when each was due to be sent, in milliseconds since 1970: where the sender or the endpoint is late, that counts
 * against the endpoint.
 * @throws where one is not answered 202
 */
export async function sendPaced<One extends Webhook>(
  url: string,
  webhooks: readonly One[],
  { perSecond, secret, began }: Pace<One>,
): Promise<void> {
  using stack = new DisposableStack()
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  stack.defer(() => agent.destroy())
  const startedAt = Date.now()
  const left = webhooks.entries()
  const sendNext = async () => {
    for (const [place, webhook] of left) {
      const due = startedAt + (1000 * place) / perSecond
      const wait = due - Date.now()
      if (wait > 0) await sleep(wait)
      began(webhook, due)
      const { id, body } = webhook
      const headers = {
        'content-type': 'application/json',
        'content-length': body.length,
        ...signStandardWebhook({ secret, id, body, at: new Date() }),
      }
      await post(url, { agent, headers, body })
    }
  }
  await Promise.all(Array.from({ length: connections }, sendNext))
}

type Posting = { agent: Agent; headers: Record<string, string | number>; body: Buffer }

function post(url: string, { agent, headers, body }: Posting): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.once('end', () => {
        if (response.statusCode === 202) resolve()
        else reject(new Error(`a webhook was answered ${response.statusCode}`))
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
