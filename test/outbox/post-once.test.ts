import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { postOnce, type WebhookPostResult } from '../../src/outbox/post-webhook.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

async function serve(handle: Handle): Promise<string> {
  const server = createServer((request, response) => void handle(request, response))
  servers.push(server)
  const port = await freePort()
  await new Promise<void>((resolve) => void server.listen(port, loopback, resolve))
  return `http://${loopback}:${port}/hooks`
}

const post = (url: string, timeoutMs = 5000): Promise<WebhookPostResult> =>
  postOnce({ url, headers: { 'webhook-id': 'canary1' }, body: Buffer.from('{"a":1}'), timeoutMs })

test('is accepted by a 202, and arrives byte for byte', async () => {
  const came: unknown[] = []
  const url = await serve(async (request, response) => {
    const { method, url: path, headers } = request
    const body = Buffer.concat(await request.toArray()).toString()
    came.push({ method, path, body, id: headers['webhook-id'], type: headers['content-type'] })
    response.writeHead(202).end()
  })
  expect(await post(url)).toEqual({ kind: 'accepted' })
  expect(came).toEqual([
    { method: 'POST', path: '/hooks', body: '{"a":1}', id: 'canary1', type: 'application/json' },
  ])
})

test.each([
  [200, 'refused'],
  [401, 'refused'],
  [503, 'refused'],
])('a %i is %s', async (status, kind) => {
  const url = await serve((_, response) => response.writeHead(status).end('whatever'))
  expect(await post(url)).toEqual({ kind, problem: `answered ${status}` })
})

test('reports a redirect and does not follow it', async () => {
  let asked = 0
  const elsewhere = await serve((_, response) => {
    asked++
    response.writeHead(202).end()
  })
  const url = await serve((_, response) => response.writeHead(307, { location: elsewhere }).end())
  expect(await post(url)).toEqual({ kind: 'redirected', problem: 'answered 307' })
  expect(asked).toBe(0)
})

test('waits no longer than the timeout', async () => {
  const url = await serve(() => undefined)
  expect(await post(url, 200)).toEqual({ kind: 'timeout', problem: 'no answer within 200 ms' })
})

test('does not read an endless answer', async () => {
  const url = await serve((_, response) => {
    response.writeHead(202)
    const timer = setInterval(() => response.write('x'.repeat(1000)), 5)
    response.on('close', () => clearInterval(timer))
  })
  expect(await post(url)).toEqual({ kind: 'accepted' })
})

test('reports the error code of a failed connection, and nothing of the request', async () => {
  expect(await post(`http://${loopback}:${await freePort()}/hooks?key=word`)).toEqual({
    kind: 'failed',
    problem: 'ECONNREFUSED',
  })
})
