import { createServer } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask, type EvmNode } from '../../src/chain/evm/node.ts'
import type { ReaderBounds } from '../../src/chain/options.ts'
import {
  answersEach,
  openRawNode,
  type RawNode,
  type RawScript,
  says,
  startRawNode,
  withId,
} from '../support/raw-node.ts'

let server: RawNode
let reported: string[]

beforeAll(async () => {
  server = await startRawNode()
})
afterAll(() => server.stop())
beforeEach(() => {
  reported = []
  server.asked.length = 0
})
afterEach(() => server.behave(answersEach))

const open = (bounds: Partial<ReaderBounds> = {}): EvmNode => openRawNode(server, { bounds, reported })

const height = (node: EvmNode): Promise<unknown> =>
  ask(node, 'head', (request) => request({ method: 'eth_blockNumber' }))

test.each<[string, RawScript, RegExp]>([
  ['HTML', says('<html>Just a moment...</html>'), /head.*the answer is not JSON/],
  [
    'HTML with a bad status',
    says('<html>\n  Bad\n gateway</html>', 502),
    /<html> Bad gateway<.html> \(HTTP 502\)/,
  ],
  ['nothing', says(''), /the answer is not JSON/],
  ['a truncated answer', says('{"jsonrpc":"2.0","id":1,"resu'), /the answer is not JSON/],
  ['depth', says('['.repeat(200_000)), /not JSON|unexpected format|answers request/],
  ['the answer to another request', withId({ id: 77, result: '0x1' }), /it answers request 77 instead of 1/],
  [
    'an answer without an id',
    withId({ id: undefined, result: '0x1' }),
    /it answers request without an id instead of 1/,
  ],
  ['an answer without a result', withId({}), /neither a result nor an error/],
  ['a list', says('[]'), /it answers request without an id/],
  ['null', says('null'), /it answers request without an id/],
  [
    'a result with a bad status',
    (response, asked) => withId({ result: '0x1' })(response.writeHead(403), asked),
    /HTTP 403/,
  ],
  [
    'an error',
    withId({ error: { code: -32000, message: 'header not found' } }),
    /header not found \(code -32000\)/,
  ],
  [
    'an error with a bad status',
    says('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"block range too large"}}', 400),
    /block range too large \(code -32600\)/,
  ],
  ['an error that is a word', withId({ error: 'no such method' }), /no such method/],
  [
    'a body that breaks off',
    (response) =>
      void response.writeHead(200, { 'content-length': '99' }).write('{', () => response.destroy()),
    /terminated|other side closed|aborted/,
  ],
  ['a redirect', says('', 302, { location: 'http://127.0.0.1:1/' }), /redirect/],
])('a node that answers %s is refused, and its URL is not told', async (_what, script, problem) => {
  server.behave(script)
  const failing = height(open())
  await expect(failing).rejects.toThrow(problem)
  await expect(failing).rejects.not.toThrow('secret-key')
  expect(reported.at(-1)).toBe('eth_blockNumber error')
})

test('half a gigabyte is not read to its end', async () => {
  let written = 0
  server.behave((response) => {
    const part = Buffer.alloc(64 * 1024, '1')
    const write = (): void => {
      while (!response.destroyed && written < 500_000_000) {
        written += part.length
        if (!response.write(part)) {
          response.once('drain', write)
          return
        }
      }
    }
    response.on('close', () => undefined)
    write()
  })
  await expect(height(open({ bodyBytesMax: 1_000_000 }))).rejects.toThrow('answer exceeds 1000000 bytes')
  expect(written).toBeLessThan(50_000_000)
})

test('a slow drip is given up as a whole', async () => {
  server.behave((response) => {
    response.write('{')
    const drip = setInterval(() => response.write(' '), 10)
    response.on('close', () => clearInterval(drip))
  })
  await expect(height(open({ timeoutMs: 100 }))).rejects.toThrow('no complete answer within 100 ms')
})

test('a redirect is not followed', async () => {
  let reached = false
  const elsewhere = createServer((_request, response) => {
    reached = true
    response.end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => elsewhere.once('listening', resolve))
  const address = elsewhere.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  server.behave(says('', 307, { location: `http://127.0.0.1:${port}/` }))
  await expect(height(open())).rejects.toThrow('redirect')
  expect(reached).toBe(false)
  await new Promise((resolve) => elsewhere.close(resolve))
})

test.each<[string, RawScript]>([
  ['a status', says('Too Many Requests', 429)],
  [
    'an error',
    withId({ error: { code: -32005, message: 'daily request count exceeded, request rate limited' } }),
  ],
  ['a code', withId({ error: { code: 429, message: 'slow down' } })],
  ['a page that is away for a while', says('busy', 503, { 'retry-after': '0' })],
])('a request that was too many by %s is asked again', async (_what, script) => {
  let refusals = 0
  server.behave((response, asked) => (refusals++ < 1 ? script : answersEach)(response, asked))
  expect(await height(open({ quotaWaitMs: 60_000 }))).toBe('0x1')
  expect(reported).toEqual(['eth_blockNumber error', 'eth_blockNumber ok'])
})

test('a range that is too large is not asked for again, for it stays so', async () => {
  server.behave(withId({ error: { code: -32005, message: 'query returned more than 10000 results' } }))
  await expect(height(open({ quotaWaitMs: 60_000 }))).rejects.toThrow('more than 10000 results')
  expect(server.asked).toHaveLength(1)
})

test('a page that breaks once is asked again', async () => {
  let broken = 0
  server.behave((response, asked) => (broken++ < 1 ? says('', 502) : answersEach)(response, asked))
  expect(await height(open({ quotaWaitMs: 60_000 }))).toBe('0x1')
})
