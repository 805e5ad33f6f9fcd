import { Agent, request } from 'node:http'
import { signStandardWebhook } from '../support/sign-webhook.ts'

const connections = 64

/** Sends signed webhooks over kept connections, as fast as they are answered, until it is stopped. */
export function startSending(url: string, firstSecret: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const statuses: Record<number, number> = {}
  const underWay = new Map<string, number>()
  let secret = firstSecret
  let sent = 0
  const stopping = new AbortController()

  /** Sends one, with an id of its own, and gives the status of the answer. */
  const send = (by: string): Promise<number> => {
    sent++
    const body = Buffer.from(JSON.stringify({ id: `evt_${sent}`, type: 'deposit.test', amount: '12500000' }))
    const signature = signStandardWebhook({ secret: by, id: `msg_${sent}`, body, at: new Date() })
    const headers = { 'content-type': 'application/json', 'content-length': body.length, ...signature }
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    sending.once('error', reject).end(body)
    return promise
  }
  const sendOn = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const by = secret
      underWay.set(by, (underWay.get(by) ?? 0) + 1)
      const status = await send(by)
      underWay.set(by, (underWay.get(by) ?? 0) - 1)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  const loops = Array.from({ length: connections }, sendOn)

  return {
    send,
    sent: () => sent,
    statuses: () => statuses,
    signBy: (next: string) => {
      secret = next
    },
    /** How many signed by this secret are not answered yet. */
    underWay: (by: string) => underWay.get(by) ?? 0,
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.allSettled(loops)
      agent.destroy()
    },
  }
}
