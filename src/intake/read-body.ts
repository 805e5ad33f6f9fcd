import type { IncomingMessage } from 'node:http'

/** `aborted`: the sender disconnected before the body was complete. */
export type BodyRead = { kind: 'read'; body: Buffer } | { kind: 'too_large' | 'overloaded' | 'aborted' }

type BodyLimits = {
  bodyBytesMax: number
  /** So that many slow senders stay within memory. */
  unfinishedBytesMax: number
  /** Leaves room for other clients. */
  unfinishedBytesPerSourceMax: number
}

/** A body above a limit is discarded; the connection's own timeout ends it. */
export function createBodyReader(bounds: BodyLimits) {
  const { bodyBytesMax } = bounds
  const unfinished = createUnfinished(bounds)

  return (request: IncomingMessage, source: string): Promise<BodyRead> => {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
      return Promise.resolve({ kind: 'too_large' })
    }
    const { promise, resolve } = Promise.withResolvers<BodyRead>()
    const chunks: Buffer[] = []
    let bytes = 0

    const finish = (outcome: BodyRead) => {
      unfinished.add(source, -bytes)
      request.off('data', take).off('end', end).off('close', abort).off('error', abort)
      resolve(outcome)
    }
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      const fits = unfinished.add(source, chunk.length)
      if (bytes > bodyBytesMax) finish({ kind: 'too_large' })
      else if (!fits) finish({ kind: 'overloaded' })
    }
    const end = () => finish({ kind: 'read', body: Buffer.concat(chunks, bytes) })
    const abort = () => finish({ kind: 'aborted' })
    request.on('data', take).on('end', end).on('close', abort).on('error', abort)
    return promise
  }
}

/** `add` returns whether the total and the client are within their limits. */
function createUnfinished({ unfinishedBytesMax, unfinishedBytesPerSourceMax }: BodyLimits) {
  const ofSources = new Map<string, number>()
  let ofAll = 0
  return {
    add(source: string, bytes: number): boolean {
      const ofSource = (ofSources.get(source) ?? 0) + bytes
      if (ofSource === 0) ofSources.delete(source)
      else ofSources.set(source, ofSource)
      ofAll += bytes
      return ofAll <= unfinishedBytesMax && ofSource <= unfinishedBytesPerSourceMax
    },
  }
}
