import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { messageOf } from '../../src/core/errors.ts'
import { opsLimits } from '../../src/ops/server.ts'
import { running, siteOf, startOpsServer as start } from '../support/ops-server.ts'

test('a port that is taken is a fault that names the setting', async () => {
  const port = Number(new URL(await start()).port)
  await expect(start({ port })).rejects.toThrow(/^settings_bad: faults OPS_PORT \d+ cannot be used/)
})

/** `fetch` sets the host itself. */
function statusAs(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.once('error', reject)
    asked.end()
  })
}

const ownNames = ['localhost:9464', '127.0.0.1', '[::1]:9464']
const otherNames = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:9464', 'depositd-http']

test.each(['/', '/metrics', '/readyz'])(
  'on loopback %s has no other name, so that no page of somebody else can read it under its own',
  async (path) => {
    const url =
      (await start({ console: siteOf((_request, response) => void response.send('console')) })) + path
    for (const host of ownNames) expect([host, await statusAs(url, host)]).toEqual([host, 200])
    for (const host of otherNames) expect([host, await statusAs(url, host)]).toEqual([host, 421])
  },
)

test('elsewhere it has the names that others gave it, and whether it is alive is told under any', async () => {
  const everywhere = (await start({ host: '0.0.0.0' })).replace('0.0.0.0', '127.0.0.1')
  for (const host of otherNames) expect(await statusAs(`${everywhere}/metrics`, host)).toBe(200)
  expect(await statusAs(`${await start()}/livez`, 'evil.example')).toBe(200)
})

test('a scrape that fails says no more than that it did', async () => {
  const reported: string[] = []
  const failed = (path: string, error: unknown) => void reported.push(`${path} ${messageOf(error)}`)
  const url = await start({ read: () => Promise.reject(new Error('no gauges, hunter2')), failed })
  const answer = await fetch(`${url}/metrics`)
  expect([answer.status, await answer.text()]).toEqual([500, 'the answer failed; the log says why\n'])
  expect(reported).toEqual(['/metrics no gauges, hunter2'])
})

test('stopping does not wait for who keeps a connection open', async () => {
  const url = new URL(await start())
  const socket = connect(Number(url.port), url.hostname)
  await new Promise((resolve) => socket.once('connect', resolve))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  await running.pop()?.stop()
  await closed
})

test('one peer that holds all it can get keeps neither probes nor scrapes of others from an answer', async () => {
  const { hostname, port } = new URL(await start())
  const hold = async (localAddress: string) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress })
    onTestFinished(() => void socket.destroy())
    await once(socket.on('error', () => undefined).resume(), 'connect')
    return socket
  }
  const holdAll = (address: string) =>
    Promise.all(Array.from({ length: opsLimits.connectionsMax + 50 }, () => hold(address)))
  const held = await holdAll('127.0.0.2')
  const open = () => held.filter(({ closed }) => !closed).length
  await expect.poll(open).toBe(opsLimits.connectionsPerSourceMax)
  expect(await statusFrom('127.0.0.3', `http://${hostname}:${port}/livez`)).toBe(200)
  // With a second one all places are taken: those who have the most make room.
  await holdAll('127.0.0.4')
  for (const path of ['/livez', '/readyz', '/metrics'])
    expect(await statusFrom('127.0.0.3', `http://${hostname}:${port}${path}`)).toBe(200)
})

/** A client of its own address: everything of 127.0.0.0/8 is this machine. */
function statusFrom(localAddress: string, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { localAddress, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.once('error', reject)
    asked.end()
  })
}
