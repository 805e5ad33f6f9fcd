import { once } from 'node:events'
import { createServer, type Socket, connect as toServer } from 'node:net'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { createLink, type Link } from './tcp-link.ts'
import { createWeather } from './tcp-weather.ts'

/** What stands between a client and a server, and spoils what goes through. */
export type TcpProxy = AsyncDisposable & {
  /** The server's URL, by way of the proxy. */
  readonly url: string
  /** Everything as it was: through, and at once. */
  heal: () => void
  /** Nothing comes through, and nothing is closed. */
  stall: () => void
  /** Closes what is open, and refuses what comes. */
  cut: () => void
  /** Each piece, either way, comes that much later. */
  delay: (milliseconds: number) => void
  /** Bytes per second, either way. */
  throttle: (bytesPerSecond: number) => void
  /** Ends connections at random: the share of pieces, 0 to 1, at which one is reset. */
  reset: (share: number, fraction: () => number) => void
  /** Once: what the client sends with these bytes in it goes to the server, and the connection is closed before it answers. */
  cutAfterSent: (bytes: Buffer) => Promise<void>
  /** Answers of the server end after that many bytes. */
  truncate: (bytes: number) => void
  connections: () => number
}

export type ProxySettings = {
  /** The server's URL; which port of this machine it has is asked at each connection, for it may move. */
  url: string
  port?: () => number
}

/** Before a server on loopback. */
export async function startTcpProxy({ url, port }: ProxySettings): Promise<TcpProxy> {
  const weather = createWeather()
  const links = new Set<Link>()
  const portOfServer = port ?? (() => Number(new URL(url).port))
  const listener = createServer({ allowHalfOpen: true }, (client: Socket) => {
    if (weather.now().refuses) {
      client.on('error', () => undefined).resetAndDestroy()
      return
    }
    const server = toServer({ port: portOfServer(), host: loopback, allowHalfOpen: true })
    const link = createLink({ client, server, weather })
    links.add(link)
    void link.ended.then(() => links.delete(link))
  })
  listener.listen(await freePort(), loopback)
  await once(listener, 'listening')
  const closeAll = () => {
    for (const link of links) link.close()
  }
  return {
    ...weather.switches,
    url: viaPort(url, portOf(listener.address())),
    cut() {
      weather.switches.refuse()
      closeAll()
    },
    connections: () => links.size,
    async [Symbol.asyncDispose]() {
      weather.switches.refuse()
      closeAll()
      listener.close()
      await once(listener, 'close')
    },
  }
}

function viaPort(url: string, port: number): string {
  const via = new URL(url)
  via.host = `${loopback}:${port}`
  // A bare address keeps its form: paths are put behind it.
  return url.endsWith('/') ? via.href : via.href.replace(/\/$/, '')
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
  return address.port
}
