import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WeatherStation } from './tcp-weather.ts'

/** One connection of a client, and the one to the server that belongs to it. */
export type Link = { close: () => void; readonly ended: Promise<void> }

type Ends = { client: Socket; server: Socket; weather: WeatherStation }

/** More than that waits where it came from. */
const heldBytesMax = 1024 * 1024
/** In so many pieces a second goes what is throttled. */
const throttledPieces = 20

export function createLink({ client, server, weather }: Ends): Link {
  let isOpen = true
  const sockets = [client, server]
  const close = () => {
    isOpen = false
    for (const socket of sockets) socket.destroy()
  }
  const reset = () => {
    isOpen = false
    client.resetAndDestroy()
    server.destroy()
  }
  const counted = { answered: 0 }
  const sent = needleFinder(weather)
  const toServer = async (piece: Buffer) => {
    counted.answered = 0
    const isLast = sent(piece)
    await pass(piece, server, weather)
    // The server is told of the end only behind all that was sent; the client is gone before it can be answered.
    if (!isLast) return
    isOpen = false
    client.resetAndDestroy()
    server.end()
    server.resume()
  }
  const toClient = async (piece: Buffer) => {
    const max = weather.now().answerBytesMax
    const left = max === null ? piece.length : max - counted.answered
    counted.answered += piece.length
    if (left >= piece.length) return pass(piece, client, weather)
    await pass(piece.subarray(0, Math.max(0, left)), client, weather)
    isOpen = false
    client.end()
    server.destroy()
  }
  const guard = (deliver: (piece: Buffer) => Promise<void>) => async (piece: Buffer) => {
    if (!isOpen) return
    const { resets } = weather.now()
    if (resets !== null && resets.fraction() < resets.share) return reset()
    await deliver(piece)
  }
  carry({ from: client, to: server, weather, deliver: guard(toServer) })
  carry({ from: server, to: client, weather, deliver: guard(toClient) })
  const ended = Promise.all(sockets.map(closed)).then(() => undefined)
  return { close, ended }
}

type Direction = {
  from: Socket
  to: Socket
  weather: WeatherStation
  deliver: (piece: Buffer) => Promise<void>
}

/** One piece after the other, each held back as long as the weather has it; an end comes behind what was sent before it. */
function carry({ from, to, weather, deliver }: Direction): void {
  let held = 0
  let last = Promise.resolve()
  const after = (work: () => Promise<void> | void) => {
    last = last.then(() => weather.clear()).then(work)
  }
  from.on('error', () => undefined)
  from.on('data', (piece: Buffer) => {
    const dueAt = performance.now() + weather.now().delayMs
    held += piece.length
    if (held > heldBytesMax) from.pause()
    after(async () => {
      await untilDue(dueAt)
      await weather.clear()
      await deliver(piece)
      held -= piece.length
      from.resume()
    })
  })
  from.on('end', () => after(() => void to.end()))
  from.on('close', (hadError) => after(() => void (hadError ? to.resetAndDestroy() : to.destroySoon())))
}

async function untilDue(dueAt: number): Promise<void> {
  const waitMs = dueAt - performance.now()
  if (waitMs > 0) await sleep(waitMs)
}

async function pass(piece: Buffer, to: Socket, weather: WeatherStation): Promise<void> {
  for (let start = 0; start < piece.length; ) {
    const { bytesPerSecond } = weather.now()
    const size = bytesPerSecond === null ? piece.length : Math.ceil(bytesPerSecond / throttledPieces)
    const part = piece.subarray(start, start + size)
    await write(to, part)
    if (bytesPerSecond !== null) await sleep((part.length / bytesPerSecond) * 1000)
    start += part.length
  }
}

/** Waits where the receiver takes nothing more; one that is gone takes everything. */
async function write(to: Socket, part: Buffer): Promise<void> {
  if (to.destroyed || to.writableEnded || to.write(part)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  to.once('drain', resolve).once('close', resolve)
  await promise
  to.off('drain', resolve).off('close', resolve)
}

/** True at the piece with which what is looked for is complete, also where it came in several. */
function needleFinder(weather: WeatherStation): (piece: Buffer) => boolean {
  let tail = Buffer.alloc(0)
  return (piece) => {
    const { needle } = weather.now()
    if (needle === null) return false
    const seen = Buffer.concat([tail, piece])
    tail = seen.subarray(Math.max(0, seen.length - needle.bytes.length + 1))
    if (!seen.includes(needle.bytes)) return false
    needle.found()
    return true
  }
}

function closed(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.once('close', () => resolve())
  return promise
}
