import { connect, type Socket } from 'node:net'

/** Where to, and from which address of this machine: everything of 127.0.0.0/8 is one, so that clients can be told apart. */
export type Peer = { host: string; port: number; localAddress?: string }

/** A connection that may be closed at any moment by the other side. */
export async function openSocket(peer: Peer): Promise<Socket> {
  const socket = connect(peer)
  socket.on('error', () => undefined)
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), untilClosed(socket)])
  return socket
}

/** However it comes about. */
export function untilClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** Sends these bytes, whatever they are, and returns all that is said until the other side closes. */
export async function exchange(peer: Peer, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(peer)
  const pieces: Buffer[] = []
  socket.on('data', (piece) => pieces.push(piece))
  socket.write(bytes)
  await untilClosed(socket)
  return Buffer.concat(pieces).toString('latin1')
}

/** The start line and the headers of a request as they are written, in the order given and as often as given. */
export function requestHead(path: string, headers: readonly (readonly [string, string])[]): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  return [`POST ${path} HTTP/1.1`, 'host: webhooks', ...lines, '', ''].join('\r\n')
}

export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
}
