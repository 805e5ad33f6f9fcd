import type { Exchange, RpcAnswer, RpcPayload } from './json-rpc.ts'

type BatchQueueEntry = {
  payload: RpcPayload
  resolve: (answer: RpcAnswer) => void
  reject: (reason: unknown) => void
}

/** Collects the requests of one turn of the event loop, and sends them in batches of at most `atOnce`. */
export function createTogether(askTogether: Exchange['askTogether'], atOnce: number): Exchange['ask'] {
  const waiting: BatchQueueEntry[] = []
  const send = async (part: readonly BatchQueueEntry[]): Promise<void> => {
    try {
      const settled = await askTogether(part.map(({ payload }) => payload))
      for (const [place, { resolve, reject }] of part.entries()) {
        const one = settled[place]
        if (one?.status === 'fulfilled') resolve(one.value)
        else reject(one?.reason)
      }
    } catch (error) {
      for (const { reject } of part) reject(error)
    }
  }
  return (payload) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ payload, resolve, reject }) > 1) return
      // Runs after the promise callbacks of this turn, when all its requests are queued.
      setImmediate(() => {
        while (waiting.length > 0) void send(waiting.splice(0, atOnce))
      })
    })
}
