import type { IncomingMessage } from 'node:http'

/** `aborted` where the sender went away before the body was complete. */
export type BodyRead = { kind: 'read'; body: Buffer } | { kind: 'too_large' | 'overloaded' | 'aborted' }

type Bounds = {
  bodyBytesMax: number
  /** Of all bodies being read at one time, so that many slow senders together stay within memory. */
  unfinishedBytesMax: number
}

/** Reads bodies byte for byte. What is over a bound is not kept; the connection's own time limit ends it. */
export function createBodyReader({ bodyBytesMax, unfinishedBytesMax }: Bounds) {
  let unfinishedBytes = 0

  return (request: IncomingMessage): Promise<BodyRead> => {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
      return Promise.resolve(refuse(request, 'too_large'))
    }
    const { promise, resolve } = Promise.withResolvers<BodyRead>()
    const chunks: Buffer[] = []
    let bytes = 0

    const finish = (outcome: BodyRead) => {
      unfinishedBytes -= bytes
      bytes = 0
      request.off('data', take).off('end', end).off('close', abort).off('error', abort)
      resolve(outcome)
    }
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      unfinishedBytes += chunk.length
      chunks.push(chunk)
      if (bytes > bodyBytesMax) finish(refuse(request, 'too_large'))
      else if (unfinishedBytes > unfinishedBytesMax) finish(refuse(request, 'overloaded'))
    }
    const end = () => finish({ kind: 'read', body: Buffer.concat(chunks, bytes) })
    const abort = () => finish({ kind: 'aborted' })
    request.on('data', take).on('end', end).on('close', abort).on('error', abort)
    return promise
  }
}

/** The rest is read and thrown away: closing at once would often cost the sender the answer. */
function refuse(request: IncomingMessage, kind: 'too_large' | 'overloaded'): BodyRead {
  request.resume()
  return { kind }
}
