import { connect, type Socket } from 'node:net'

// Holds more connections than one process may have that does other things too. What to do comes as one argument, what
// became of it goes out as messages.

/** A crowd: what each of its connections sends at first, and then, piece by piece, again and again. */
export type CrowdOrder = {
  host: string
  port: number
  /** Of this machine; connections are made from each in turn. */
  addresses: readonly string[]
  count: number
  first: string
  drip: string
  dripEveryMs: number
  /** What is closed is opened again. */
  isStubborn: boolean
}

export type CrowdReported = {
  opened: number
  open: number
  closed: number
  answered: Readonly<Record<string, number>>
}

const order = JSON.parse(process.argv[2] ?? '{}') as CrowdOrder
const reported = { opened: 0, open: 0, closed: 0, answered: {} as Record<string, number> }
const openBeside = 200

function open(place: number): Promise<void> {
  const localAddress = order.addresses[place % order.addresses.length] ?? '127.0.0.2'
  const socket = connect({ host: order.host, port: order.port, localAddress })
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.on('error', () => undefined)
  socket.once('connect', () => {
    reported.opened++
    reported.open++
    if (order.first !== '') socket.write(order.first)
    drip(socket)
    socket.once('close', () => reported.open--)
    resolve()
  })
  socket.on('data', (piece: Buffer) => {
    const status = /^HTTP\/1\.1 (\d+)/.exec(piece.toString('latin1'))?.[1] ?? 'none'
    reported.answered[status] = (reported.answered[status] ?? 0) + 1
  })
  socket.once('close', () => {
    reported.closed++
    resolve()
    if (order.isStubborn) setTimeout(() => void open(place), 1000)
  })
  return promise
}

function drip(socket: Socket): void {
  if (order.drip === '') return
  const timer = setInterval(() => socket.write(order.drip), order.dripEveryMs)
  socket.once('close', () => clearInterval(timer))
}

const places = Array.from({ length: order.count }, (_, place) => place).values()
const lane = async () => {
  for (const place of places) await open(place)
}
setInterval(() => process.send?.(reported), 200)
process.on('disconnect', () => process.exit(0))
await Promise.all(Array.from({ length: openBeside }, lane))
