import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { transfersPath } from '../../src/intake/server.ts'
import { memoryWriter, requestHead, signed, startTestIntake, type TestIntake } from '../support/intake.ts'

/** Two clients, told apart by their address: everything of 127.0.0.0/8 is this machine. */
const attacker = '127.0.0.2'
const sender = '127.0.0.3'

const started: (TestIntake | Socket)[] = []
afterEach(async () => {
  for (const one of started.splice(0)) await ('stop' in one ? one.stop() : one.destroy())
})

async function start(change: Partial<Parameters<typeof startTestIntake>[0]> = {}): Promise<TestIntake> {
  const intake = await startTestIntake({ write: memoryWriter().write, ...change })
  started.push(intake)
  return intake
}

/** A connection of a client. */
async function open({ url }: TestIntake, localAddress: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  started.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Sends one webhook from an address of choice and returns the status of its answer. */
async function deliverFrom(localAddress: string, { url }: TestIntake, extra = {}): Promise<number> {
  const body = Buffer.from('{"event":"x"}')
  const headers = { ...signed('msg_1', body), 'content-length': String(body.length), ...extra }
  const sent = request(url + transfersPath, { method: 'POST', localAddress, headers, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  await text(response)
  return response.statusCode ?? 0
}

test('a thousand silent connections of one client leave room for others', async () => {
  const intake = await start({ limits: { connectionsPerSourceMax: 300, connectionsMax: 500 } })
  const silent = await Promise.all(Array.from({ length: 1000 }, () => open(intake, attacker)))
  for (const socket of silent) socket.resume()
  await expect.poll(() => silent.filter(({ closed }) => closed).length, { timeout: 20_000 }).toBe(700)
  expect(await deliverFrom(sender, intake)).toBe(202)
})

test('a client that closes connections may open as many again', async () => {
  const intake = await start({ limits: { connectionsPerSourceMax: 1 } })
  const first = await open(intake, attacker)
  const second = await open(intake, attacker)
  second.resume()
  await expect.poll(() => second.closed).toBe(true)
  first.destroy()
  await expect.poll(() => deliverFrom(attacker, intake).catch(() => 0)).toBe(202)
})

test('where every place is taken, who has the most gives up its oldest for a client with fewer, and for nobody else', async () => {
  const intake = await start({ limits: { connectionsPerSourceMax: 10, connectionsMax: 12 } })
  const many = await Promise.all(Array.from({ length: 9 }, () => open(intake, attacker)))
  const few = await Promise.all(['127.0.0.4', '127.0.0.5', '127.0.0.5'].map((one) => open(intake, one)))
  for (const socket of [...many, ...few]) socket.resume()
  const tenth = await open(intake, attacker)
  tenth.resume()
  await expect.poll(() => tenth.closed).toBe(true)
  expect(await deliverFrom(sender, intake)).toBe(202)
  await expect.poll(() => many.map(({ closed }) => closed)).toEqual([true, ...Array<boolean>(8).fill(false)])
  expect(few.filter(({ closed }) => closed)).toHaveLength(0)
})

test('a trusted proxy brings the connections of many clients', async () => {
  const intake = await start({ limits: { connectionsPerSourceMax: 1 }, trustedProxies: ['127.0.0.0/8'] })
  const silent = await Promise.all(Array.from({ length: 20 }, () => open(intake, attacker)))
  expect(await deliverFrom(attacker, intake)).toBe(202)
  expect(silent.filter(({ closed }) => closed)).toHaveLength(0)
})

test('bodies that one client drips take its share of memory, and others send on', async () => {
  const intake = await start({
    limits: { unfinishedBytesPerSourceMax: 100_000, unfinishedBytesMax: 1_000_000 },
  })
  const senders = await Promise.all(Array.from({ length: 50 }, () => open(intake, attacker)))
  for (const [number, socket] of senders.entries()) {
    socket.write(requestHead({ ...signed(`drip_${number}`, Buffer.alloc(0)), 'content-length': '60000' }))
    socket.write('x'.repeat(10_000))
  }
  const overloaded = () => intake.observed.filter(({ outcome }) => outcome === 'overloaded').length
  await expect.poll(overloaded, { timeout: 20_000 }).toBeGreaterThan(30)
  expect(await deliverFrom(sender, intake)).toBe(202)
})

test.each([
  ['a body that is too large', '', 413],
  ['a body to where nothing is', '/elsewhere', 404],
])(
  '%s is read to its end before its connection ends, lest the answer be lost',
  async (_what, path, status) => {
    const intake = await start({ limits: { bodyBytesMax: 1000 } })
    const socket = await open(intake, sender)
    const ended = new Promise((resolve) => socket.once('error', resolve).once('close', resolve))
    const headers = { ...signed('large', Buffer.alloc(0)), 'content-length': '200000', connection: 'close' }
    socket.write(requestHead(headers).replace(transfersPath, transfersPath + path))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toContain(`HTTP/1.1 ${status} `)
    for (let sent = 0; sent < 200_000; sent += 20_000) {
      socket.write('x'.repeat(20_000))
      await setImmediate()
    }
    expect(await ended, 'whether it ended by an error').toBe(false)
  },
)

test('behind a trusted proxy the share is that of the client whom it names', async () => {
  const intake = await start({
    limits: { unfinishedBytesPerSourceMax: 1000 },
    trustedProxies: ['127.0.0.0/8'],
  })
  const socket = await open(intake, attacker)
  const forwarded = { 'x-forwarded-for': '198.51.100.1' }
  socket.write(requestHead({ ...signed('drip', Buffer.alloc(0)), 'content-length': '2000', ...forwarded }))
  socket.write('x'.repeat(995))
  await expect.poll(() => deliverFrom(attacker, intake, forwarded)).toBe(503)
  expect(await deliverFrom(attacker, intake, { 'x-forwarded-for': '198.51.100.2' })).toBe(202)
})
