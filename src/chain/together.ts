import type { Exchange, RpcAnswer, RpcPayload } from './json-rpc.ts'

type BatchQueueEntry = {
  payload: RpcPayload
  resolve: (answer: RpcAnswer) => void
  reject: (reason: unknown) => void
}

/** Gathers what is asked for in one turn of the event loop, and asks for it together, so many at a time. */
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
      // What was asked for in the same turn has arrived when its promises have run.
      setImmediate(() => {
        while (waiting.length > 0) void send(waiting.splice(0, atOnce))
      })
    })
}
