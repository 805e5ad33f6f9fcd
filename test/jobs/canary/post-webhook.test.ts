import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type CanaryPostResult, postWebhook } from '../../../src/jobs/canary/send-webhook.ts'
import { freePort, loopback } from '../../../src/sandbox/free-port.ts'

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

const post = (url: string, timeoutMs = 5000): Promise<CanaryPostResult> =>
  postWebhook({ url, headers: { 'webhook-id': 'canary1' }, body: Buffer.from('{"a":1}'), timeoutMs })

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

test('a redirect is told and not followed', async () => {
  let asked = 0
  const elsewhere = await serve((_, response) => {
    asked++
    response.writeHead(202).end()
  })
  const url = await serve((_, response) => response.writeHead(307, { location: elsewhere }).end())
  expect(await post(url)).toEqual({ kind: 'redirected', problem: 'answered 307' })
  expect(asked).toBe(0)
})

test('who does not answer is waited for no longer than allowed', async () => {
  const url = await serve(() => undefined)
  expect(await post(url, 200)).toEqual({ kind: 'timeout', problem: 'no answer within 200 ms' })
})

test('an answer without end is not read', async () => {
  const url = await serve((_, response) => {
    response.writeHead(202)
    const timer = setInterval(() => response.write('x'.repeat(1000)), 5)
    response.on('close', () => clearInterval(timer))
  })
  expect(await post(url)).toEqual({ kind: 'accepted' })
})

test('where nobody listens it has failed, and says nothing of what was to be sent', async () => {
  expect(await post(`http://${loopback}:${await freePort()}/hooks?key=word`)).toEqual({
    kind: 'failed',
    problem: 'ECONNREFUSED',
  })
})
