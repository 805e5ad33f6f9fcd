import { once } from 'node:events'
import { createServer } from 'node:net'

export const loopback = '127.0.0.1'

/** The wanted port where nobody listens on it, else one the system chooses. */
export async function freePort(wanted?: number): Promise<number> {
  return (wanted === undefined ? null : await tryPort(wanted)) ?? (await tryPort(0)) ?? freePort()
}

async function tryPort(port: number): Promise<number | null> {
  const server = createServer()
  try {
    server.listen(port, loopback)
    await once(server, 'listening')
    const bound = server.address()
    return bound !== null && typeof bound === 'object' ? bound.port : null
  } catch {
    return null
  } finally {
    server.close()
  }
}
