import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKey, writeKey } from '../fixtures.ts'
import { type OpenApi, openApi } from './open-api.ts'

let api: OpenApi

beforeAll(async () => {
  api = await openApi({ limits: { headersMs: 300, requestMs: 600, connectionsMax: 20 } })
})

afterAll(() => api.close())

const read = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8')
const tls = { cert: read('localhost.pem'), key: read('localhost-key.pem') }

/** Says something over a connection of its own, and gives all that comes back until the server closes it. */
async function say(words: string, url = api.url): Promise<{ status: string; body: Record<string, unknown> }> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(words)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  return { status: head.split('\r\n')[0] ?? '', body: JSON.parse(body || '{}') as Record<string, unknown> }
}

const posting = `POST /v1/stable-wallets HTTP/1.1\r\nhost: x\r\nx-api-key: ${writeKey}\r\n`

test.each([
  ['headers that never end', 'GET / HTTP/1.1\r\nhost: x\r\n', 408, 'request_timeout'],
  [
    'a body that never ends',
    `${posting}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"id":`,
    408,
    'request_timeout',
  ],
  [
    'headers that are too long',
    `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(17_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  ['another protocol', 'EHLO example\r\n\r\n', 400, 'http_malformed'],
  ['two lengths', `${posting}content-length: 3\r\ncontent-length: 4\r\n\r\n{}{}`, 400, 'http_malformed'],
  [
    'a length and chunks',
    `${posting}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    'http_malformed',
  ],
])('%s get a problem, and the connection is closed', async (...[, words, status, code]) => {
  const answer = await say(words)
  expect(answer.status).toContain(`HTTP/1.1 ${status} `)
  expect(answer.body).toMatchObject({ status, code, detail: expect.any(String) })
})

test('more connections than are allowed are closed at once, and the others are served', async () => {
  const { hostname, port } = new URL(api.url)
  const sockets = Array.from({ length: 40 }, () => connect({ host: hostname, port: Number(port) }))
  const closed = sockets.map(
    (socket) =>
      new Promise<boolean>((resolve) => {
        socket.on('error', () => resolve(true)).on('close', () => resolve(true))
        socket.on('connect', () => socket.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'))
        socket.once('data', () => resolve(false))
      }),
  )
  const refused = (await Promise.all(closed)).filter(Boolean).length
  expect(refused).toBeGreaterThanOrEqual(20)
  expect(refused).toBeLessThan(40)
  for (const socket of sockets) socket.destroy()
})

test('a request that is under way when the service stops gets its answer, and its connection ends with it', async () => {
  const other = await openApi()
  const { hostname, port } = new URL(other.url)
  const socket = connect({ host: hostname, port: Number(port) })
  const body = '{"id":"last"}'
  socket.write(
    `${posting}content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n`,
  )
  const [interim] = (await once(socket, 'data')) as [Buffer]
  expect(interim.toString()).toContain('100 Continue')
  const closed = other.close()
  socket.write(body)
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is)
  await closed
})

test('a stop closes connections that say nothing, and those that are kept alive, at once', async () => {
  const other = await openApi()
  const { hostname, port } = new URL(other.url)
  const sockets = ['', 'GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'].map((words) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(words))
    return socket
  })
  const closed = sockets.map((socket) => once(socket, 'close'))
  await Promise.all([once(sockets[0] ?? process, 'connect'), once(sockets[1] ?? process, 'data')])
  for (const socket of sockets) socket.resume()
  await other.close()
  await Promise.all(closed)
}, 8000)

test('with a certificate the API is served over HTTPS, and over nothing else', async () => {
  const secure = await openApi({ tls })
  expect(secure.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  const answer = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const asked = request(`${secure.url}/v1/proxies/deposits`, {
      ca: tls.cert,
      headers: { 'X-API-KEY': readKey },
    })
    asked.on('error', reject).on('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject)
    })
    asked.end()
  })
  expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { data: [], next_cursor: null }])
  await expect(fetch(secure.url.replace('https', 'http'))).rejects.toThrow()
  await secure.close()
})
