import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** What the server got, and what the client of a connection got. */
type Call = { client: Socket; got: () => string; isClosed: () => boolean }

let stack: AsyncDisposableStack
let proxy: TcpProxy
let direct = ''
let arrived = ''

/** A server that answers all it gets with the same twice. */
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  arrived = ''
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (piece) => {
      arrived += piece.toString()
      socket.write(piece.toString().repeat(2))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => void server.close())
  direct = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  proxy = stack.use(await startTcpProxy({ url: direct }))
})
afterEach(() => stack.disposeAsync())

async function call(url = proxy.url): Promise<Call> {
  const client = connect(Number(new URL(url).port), '127.0.0.1')
  let text = ''
  client.on('error', () => undefined).on('data', (piece) => (text += piece.toString()))
  stack.defer(() => void client.destroy())
  // One that is refused may have ended before it was there.
  await Promise.race([once(client, 'connect'), once(client, 'close')]).catch(() => undefined)
  return { client, got: () => text, isClosed: () => client.closed }
}

/** Asks and is answered many times, one after the other: whatever comes through the proxy has come by then. */
async function talkPastProxy(): Promise<void> {
  const past = await call(direct)
  let expected = ''
  for (let count = 0; count < 20; count++) {
    past.client.write('0')
    expected += '00'
    await answered(past, expected)
  }
}

const answered = ({ got }: Call, text: string) =>
  until(`the answer ${text}`, () => (got() === text ? true : null))
const closed = ({ isClosed }: Call) => until('the end of the connection', () => isClosed() || null)

test('everything comes through as it is, and connections are counted while they are open', async () => {
  const one = await call()
  one.client.write('ab')
  await answered(one, 'abab')
  expect(proxy.connections()).toBe(1)
  one.client.end()
  await closed(one)
  await until('nothing is open', () => proxy.connections() === 0 || null)
})

test('stalled, nothing comes through and nothing is closed; healed, all of it does', async () => {
  const one = await call()
  one.client.write('a')
  await answered(one, 'aa')
  proxy.stall()
  one.client.write('b')
  const other = await call()
  other.client.write('c')
  await until('both are open', () => proxy.connections() === 2 || null)
  await talkPastProxy()
  expect(arrived).toMatch(/^a\d+$/)
  expect([one.got(), one.isClosed(), other.isClosed()]).toEqual(['aa', false, false])
  proxy.heal()
  await answered(one, 'aabb')
  await answered(other, 'cc')
})

test('cut, what is open is closed and what comes is refused, until it is healed', async () => {
  const open = await call()
  proxy.cut()
  await closed(open)
  const refused = await call()
  await closed(refused)
  expect(refused.got()).toBe('')
  proxy.heal()
  const next = await call()
  next.client.write('a')
  await answered(next, 'aa')
})

test('delayed, each way takes at least so long', async () => {
  proxy.delay(60)
  const one = await call()
  const begun = performance.now()
  one.client.write('a')
  await answered(one, 'aa')
  expect(performance.now() - begun).toBeGreaterThanOrEqual(119)
})

test('throttled, it takes at least as long as so many bytes a second do', async () => {
  proxy.throttle(10_000)
  const one = await call()
  const begun = performance.now()
  one.client.write('x'.repeat(1000))
  await answered(one, 'x'.repeat(2000))
  // The last of four parts of the answer goes when the other three have taken their time.
  expect(performance.now() - begun).toBeGreaterThanOrEqual(149)
})

test('reset, connections end at the pieces that chance says', async () => {
  const draws = [0.9, 0.9, 0.1]
  proxy.reset(0.5, () => draws.shift() ?? 1)
  const one = await call()
  one.client.write('a')
  await answered(one, 'aa')
  one.client.write('b')
  await closed(one)
  expect([arrived, one.got()]).toEqual(['a', 'aa'])
})

test('cut behind what was sent, the server has it and the client no answer, also where it came in two pieces', async () => {
  const other = await call()
  const done = proxy.cutAfterSent(Buffer.from('COMMIT'))
  const one = await call()
  one.client.write('COM')
  await answered(one, 'COMCOM')
  one.client.write('MIT')
  await done
  await closed(one)
  await until('the server has it', () => arrived.endsWith('MIT') || null)
  expect(one.got()).toBe('COMCOM')
  other.client.write('COMMIT')
  await answered(other, 'COMMITCOMMIT')
})

test('truncated, answers end after so many bytes', async () => {
  proxy.truncate(3)
  const one = await call()
  one.client.write('ab')
  await closed(one)
  expect(one.got()).toBe('aba')
})
