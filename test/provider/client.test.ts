import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { createProviderClient, type ProviderOutcome } from '../../src/provider/client.ts'

const apiKey = 'key-that-nobody-may-see'
const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An address where nothing listens any more. */
async function closedPort(): Promise<string> {
  const url = await serve(() => undefined)
  await new Promise((resolve) => servers.pop()?.close(resolve))
  return url
}

const outcomes: ProviderOutcome[] = []

async function client(listener: RequestListener, path = '', timeoutMs = 15_000) {
  outcomes.length = 0
  const url = (await serve(listener)) + path
  return createProviderClient({ url, apiKey, timeoutMs }, (outcome) => outcomes.push(outcome))
}

const list = async (listener: RequestListener, timeoutMs?: number) =>
  (await client(listener, '', timeoutMs)).listDeposits({ cursor: null, limit: 10 })

/** The fault's own words; the key is in none of them, nor in what caused it. */
async function problemOf(answer: Promise<unknown>): Promise<string> {
  const error: unknown = await answer.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ code: 'remote_failed' })
  const { message, stack, cause, details } = error as Error & { details: { problem: string } }
  expect([message, stack, String(cause), JSON.stringify(details)].join()).not.toContain(apiKey)
  return details.problem
}

const answer =
  (status: number, body: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }

const head = '"id":"dep_1","created_at":"2026-01-01T00:00:00Z"'
const page = (records: string, cursor = 'null') => `{"data":[${records}],"next_cursor":${cursor}}`

test('a page is asked for with the key, the cursor and the limit', async () => {
  const seen: IncomingMessage[] = []
  const { listDeposits } = await client((request, response) => {
    seen.push(request)
    answer(200, page(`{${head}}`, '"next"'))(request, response)
  })
  const read = await listDeposits({ cursor: 'a b&c', limit: 7 })
  expect(read).toEqual({
    records: [
      { id: 'dep_1', createdAt: new Date('2026-01-01T00:00:00Z'), text: expect.stringContaining(head) },
    ],
    nextCursor: 'next',
  })
  expect(seen[0]?.url).toBe('/v1/proxies/deposits?limit=7&cursor=a+b%26c')
  expect(seen[0]?.headers).toMatchObject({ 'x-api-key': apiKey, accept: 'application/json' })
  expect(outcomes).toEqual(['ok'])
})

test.each(['/deposits-api', '/deposits-api/'])('paths are relative to a base of %s', async (base) => {
  const paths: (string | undefined)[] = []
  const { listDeposits } = await client((request, response) => {
    paths.push(request.url)
    answer(200, page(''))(request, response)
  }, base)
  await listDeposits({ cursor: null, limit: 1 })
  expect(paths).toEqual(['/deposits-api/v1/proxies/deposits?limit=1'])
})

test('numbers of any size are kept digit for digit, wherever they stand', async () => {
  const numbers = '"a":9007199254740993,"b":{"c":[1e400,0.10,-0,123456789012345678901234567890]}'
  const { records } = await list(answer(200, page(`{${head},${numbers}}`)))
  expect(records[0]?.text).toBe(`{${head},${numbers}}`)
})

test.each<[string, number, ProviderOutcome]>([
  ['a missing key', 401, 'refused'],
  ['a key without the scope', 403, 'refused'],
  ['an unknown path', 404, 'refused'],
  ['too many requests', 429, 'limited'],
  ['a fault of its own', 500, 'failed'],
  ['a gateway in between', 503, 'failed'],
])(
  'an answer that complains of %s names its status, without what it repeats of the key',
  async (what, status, outcome) => {
    const problem = await problemOf(list(answer(status, `{"detail":"${what} in ${apiKey}"}`)))
    expect(problem).toContain(`${status} {"detail":"${what}`)
    expect(outcomes).toEqual([outcome])
  },
)

test('a long complaint is cut', async () => {
  expect((await problemOf(list(answer(500, 'x'.repeat(100_000))))).length).toBeLessThan(400)
})

test.each<[string, string, string]>([
  ['a page of HTML', '<html>login</html>', 'the answer is no JSON: <html>login</html>'],
  ['nothing', '', 'the answer is no JSON'],
  ['half a document', '{"data":[', 'the answer is no JSON'],
  ['no list', '{"next_cursor":null}', 'unexpected answer at data'],
  ['no cursor', '{"data":[]}', 'unexpected answer at next_cursor'],
  ['a cursor that is a number', page('', '7'), 'unexpected answer at next_cursor'],
  [
    'very deep JSON',
    page(`{${head},"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    'the answer is no JSON',
  ],
])('%s with status 200 is a fault that says so', async (_what, body, problem) => {
  expect(await problemOf(list(answer(200, body)))).toContain(problem)
  expect(outcomes).toEqual(['failed'])
})

test('a redirect is refused, and the key goes nowhere else', async () => {
  let elsewhere = 0
  const other = await serve((_request, response) => {
    elsewhere++
    response.end(page(''))
  })
  await problemOf(
    list((_request, response) => response.writeHead(302, { location: `${other}/v1/proxies/deposits` }).end()),
  )
  expect(elsewhere).toBe(0)
  expect(outcomes).toEqual(['failed'])
})

test('an answer without end is cut off at the bound', async () => {
  const problem = await problemOf(
    list((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk)) continue
        if (!response.destroyed) response.once('drain', pour)
      }
      response.writeHead(200)
      pour()
    }),
  )
  expect(problem).toBe('the answer is too large')
  expect(outcomes).toEqual(['failed'])
})

test('a server that does not answer is given up on', { timeout: 5000 }, async () => {
  expect(await problemOf(list(() => undefined, 50))).toMatch(/timeout/)
  expect(outcomes).toEqual(['failed'])
})

test('a server that stops in the middle of its answer is given up on', { timeout: 5000 }, async () => {
  const problem = await problemOf(list((_request, response) => void response.write('{"data"'), 200))
  expect(problem).toMatch(/timeout/)
  expect(outcomes).toEqual(['failed'])
})

test('a connection that is cut in the middle of an answer is a fault', async () => {
  await problemOf(
    list((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"data"', () => response.destroy())
    }),
  )
  expect(outcomes).toEqual(['failed'])
})

test('a server that is not there, and a key that no header can carry, are faults', async () => {
  const unreachable = createProviderClient({ url: await closedPort(), apiKey })
  expect(await problemOf(unreachable.listDeposits({ cursor: null, limit: 1 }))).toContain('ECONNREFUSED')
  const odd = createProviderClient({ url: 'http://127.0.0.1:1', apiKey: `${apiKey}\u0000${apiKey}` })
  await problemOf(odd.createStableWallet({ id: 'w1' }))
})

test('a password in the address is not repeated', async () => {
  const { listDeposits } = createProviderClient({ url: 'http://user:hunter2@127.0.0.1:1', apiKey })
  expect(await problemOf(listDeposits({ cursor: null, limit: 1 }))).not.toContain('hunter2')
})

test('channels and wallets are created in the spelling of the interface', async () => {
  const bodies: string[] = []
  const addresses = [{ network: 'base', address: '0x1' }]
  const { createChannel, createStableWallet } = await client((request, response) => {
    const created = request.url?.endsWith('channels')
      ? { id: 'c', addresses }
      : { stable_wallet: { id: 'w', deposit_addresses: addresses } }
    void text(request).then((body) => {
      bodies.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`)
      return response.end(JSON.stringify(created))
    })
  })
  const channel = { id: 'c', forwardNetwork: 'base', forwardAsset: 'USDC', forwardRecipient: '0x2' }
  expect(await createChannel(channel)).toEqual({ id: 'c', addresses })
  expect(await createStableWallet({ id: 'w' })).toEqual({ id: 'w', addresses })
  expect(bodies).toEqual([
    'POST /v1/channels application/json {"id":"c","forward_network":"base","forward_asset":"USDC","forward_recipient":"0x2"}',
    'POST /v1/stable-wallets application/json {"id":"w"}',
  ])
})

test('an owner without addresses is a fault', async () => {
  const { createStableWallet } = await client(
    answer(201, '{"stable_wallet":{"id":"w","deposit_addresses":[]}}'),
  )
  const problem = await problemOf(createStableWallet({ id: 'w' }))
  expect(problem).toContain('unexpected answer at stable_wallet.deposit_addresses')
})

test('a record without a usable id or time is kept whole beside its neighbours', async () => {
  const odd = ['{"x":1}', '{"id":7,"created_at":"yesterday"}', '"word"', 'null']
  const { records } = await list(answer(200, page([`{${head}}`, ...odd].join(','))))
  expect(records.map(({ id, createdAt }) => [id, createdAt?.toISOString() ?? null])).toEqual([
    ['dep_1', '2026-01-01T00:00:00.000Z'],
    ...odd.map(() => [null, null]),
  ])
  expect(records.slice(1).map((record) => record.text)).toEqual(odd)
})
