import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

export const loopback = '127.0.0.1'

/** Below the ephemeral ports (from 32768 on Linux, 49152 elsewhere), so that a free port stays free for a moment. */
const [lowest, highest] = [20_000, 32_000]

export async function freePort(wanted?: number): Promise<number> {
  return (
    (wanted === undefined ? null : await tryPort(wanted)) ??
    (await tryPort(randomInt(lowest, highest))) ??
    freePort()
  )
}

/**
 * Uses the wanted port if it is free. If another process takes the port in between, it starts once more on another one.
 */
export async function onFreePort<Started>(
  wanted: number | undefined,
  start: (port: number) => Promise<Started>,
): Promise<Started> {
  const port = await freePort(wanted)
  try {
    return await start(port)
  } catch (error) {
    if ((await tryPort(port)) !== null) throw error
    return start(await freePort())
  }
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
