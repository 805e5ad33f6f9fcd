import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that answers as a test says, also wrongly. */
export type RawService = AsyncDisposable & { url: string }

export async function startRawService(listener: RequestListener): Promise<RawService> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
