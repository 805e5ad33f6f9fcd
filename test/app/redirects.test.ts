import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { postJson } from '../../src/chain/json-rpc.ts'
import type { NodeConnection } from '../../src/chain/options.ts'
import { lineOf, messageOf } from '../../src/core/errors.ts'
import { fetchPrices } from '../../src/jobs/books/fetch-prices.ts'
import { startTracing } from '../../src/ops/tracing/otlp-tracing.ts'
import { postOnce } from '../../src/outbox/post-webhook.ts'
import { createServiceCall, probeScope } from '../../src/provider/service-call.ts'
import { startRawService } from '../support/raw-service.ts'
import { keyAuth } from '../support/service-auth.ts'

/** The daemon calls the addresses of its settings and no other: wherever it is sent on to, it does not go. */

const stack = { now: new AsyncDisposableStack() }
beforeEach(() => {
  stack.now = new AsyncDisposableStack()
})
afterEach(() => stack.now.disposeAsync())

const apiKey = 'key-that-nobody-may-see'

/** Each calls an address, and tells how that ended. */
const clients: Record<string, { call: (url: string) => Promise<string>; says: RegExp }> = {
  'a read of the service': {
    call: (url) => failureOf(createServiceCall({ url, auth: keyAuth(apiKey), attemptsMax: 1 })(get)),
    says: /GET \/v1\/things: .*redirect, which is not followed: SERVICE_URL has to be the address it leads to/,
  },
  'a creation at the service': {
    call: (url) =>
      failureOf(
        createServiceCall({ url, auth: keyAuth(apiKey) })({ method: 'POST', path: '/v1/things', body: {} }),
      ),
    says: /POST \/v1\/things: .*redirect, which is not followed: SERVICE_URL has to be the address it leads to/,
  },
  'a node': {
    call: (url) => failureOf(postJson(connectionTo(url), '{}')),
    says: /^the server redirects, and redirects are not followed: use the final address in the RPC setting$/,
  },
  'the question what a key may do': {
    call: (url) => probeScope({ url, auth: keyAuth(apiKey), timeoutMs: 5000 }, '/v1/channels'),
    says: /^unasked$/,
  },
  'a webhook of a canary': {
    call: async (url) =>
      JSON.stringify(await postOnce({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 5000 })),
    says: /^{"kind":"redirected","problem":"answered 30\d"}$/,
  },
  'a read of prices': {
    call: (url) => failureOf(fetchPrices(noDatabase, url)),
    says: /^the prices of 127\.0\.0\.1:\d+: .*redirect/,
  },
  'the collector of traces': {
    call: sendTrace,
    says: /spans were dropped: .*redirect, which is not followed: OTEL_EXPORTER_OTLP_ENDPOINT has to be/,
  },
}

/** It is not reached. */
const noDatabase = {} as Parameters<typeof fetchPrices>[0]

const get = { method: 'GET', path: '/v1/things' } as const

async function failureOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(() => 'it went well', lineOf)
}

/** Of a connection only the address and its bounds are looked at here. */
function connectionTo(url: string): NodeConnection {
  return { url: new URL(url), bounds: { timeoutMs: 5000, bodyBytesMax: 1000 } } as unknown as NodeConnection
}

async function sendTrace(url: string): Promise<string> {
  const lost: unknown[] = []
  const tracing = startTracing(
    { url: `${url}/v1/traces`, headers: { 'x-key': apiKey }, serviceName: 'test', ratio: 1 },
    {
      version: 'test',
      hide: (text) => text,
      traceparentsOf: () => Promise.resolve(new Map()),
      onLost: (error) => lost.push(error),
    },
  )
  tracing.webhook({ sourceKey: 'msg_1', startedAt: Date.now(), traceparent: undefined })?.end('stored')
  await tracing.stop()
  return lost.map(messageOf).join()
}

const statuses = [301, 302, 303, 307, 308]

test.each(Object.entries(clients))(
  '%s follows no redirect, neither to another host nor to itself',
  async (_name, { call, says }) => {
    const reached: string[] = []
    const other = stack.now.use(
      await startRawService((request, response) => {
        reached.push(`elsewhere ${request.url}`)
        response.end('{}')
      }),
    )
    for (const status of statuses) {
      for (const to of [`${other.url}/elsewhere`, '/itself', '//127.0.0.1:1/']) {
        const server = await startRawService((request, response) => {
          request.resume()
          if (request.url === '/itself') reached.push('itself')
          response.writeHead(status, { location: to }).end()
        })
        expect(await call(server.url)).toMatch(says)
        await server[Symbol.asyncDispose]()
      }
    }
    expect(reached).toEqual([])
  },
)

test('every request of the program says what is to be done with a redirect', () => {
  const root = join(import.meta.dirname, '../../src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const silent = files.filter((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return text.split(/\bfetch\(/).length > text.split(/\bredirect: '(?:error|manual)'/).length
  })
  expect(silent).toEqual([])
})
