import { setTimeout as sleep } from 'node:timers/promises'
import { transfersPath } from '../../src/intake/server.ts'
import { send, signTest } from '../chaos/hostile/webhook-sender.ts'

export type Sending = AsyncDisposable & {
  /** Ids of those that were answered 202. */
  acknowledged: () => readonly string[]
  /** Returns once the last one is answered. */
  stop: () => Promise<void>
}

const senders = 4
const pauseMs = 100

/** Sends genuine webhooks that tell of no deposit, several at once, each on a connection of its own and never again. */
export function startSending(url: string, { WEBHOOK_SECRETS: secret = '' }: Record<string, string>): Sending {
  const acknowledged: string[] = []
  const stopping = new AbortController()
  const sendOn = async (sender: number) => {
    for (let number = 0; !stopping.signal.aborted; number++) {
      const id = `address_conflict_${sender}_${number}`
      const { status } = await send({ url: url + transfersPath }, signTest({ secret }, id))
      if (status === 202) acknowledged.push(id)
      await sleep(pauseMs)
    }
  }
  const sending = Promise.all(Array.from({ length: senders }, (_, sender) => sendOn(sender)))
  const stop = async () => {
    stopping.abort()
    await sending
  }
  return { acknowledged: () => acknowledged, stop, [Symbol.asyncDispose]: stop }
}
