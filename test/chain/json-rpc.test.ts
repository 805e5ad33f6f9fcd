import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask, askInBatch, type EvmNode } from '../../src/chain/evm/node.ts'
import type { ReaderBounds } from '../../src/chain/options.ts'
import {
  answersEach,
  isSeveral,
  openRawNode,
  type RawCall,
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

const several = (node: EvmNode, count: number): Promise<PromiseSettledResult<unknown>[]> =>
  Promise.allSettled(
    Array.from({ length: count }, (_, place) =>
      askInBatch(node, `call ${place}`, (request) =>
        request({ method: 'eth_getBlockByNumber', params: [`0x${place.toString(16)}`, false] }),
      ),
    ),
  )

const numbers = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    status: 'fulfilled',
    value: `0x${(place + 1).toString(16)}`,
  }))

test('what is asked for together goes in as few requests as the bound allows', async () => {
  expect(await several(open({ requestsPerBatch: 20 }), 45)).toEqual(numbers(45))
  expect(server.asked.map((one) => (isSeveral(one) ? one.length : 1))).toEqual([20, 20, 5])
  expect(reported).toHaveLength(45)
})

test('answers of a batch may come in any order', async () => {
  server.behave(
    batch((calls) =>
      calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: `0x${id.toString(16)}` })).toReversed(),
    ),
  )
  expect(await several(open(), 5)).toEqual(numbers(5))
})

/** Answers what the calls of a batch make. */
const batch =
  (answersOf: (calls: readonly RawCall[]) => unknown): RawScript =>
  (response, asked) =>
    response.end(JSON.stringify(answersOf(isSeveral(asked) ? asked : [asked])))

const refusals: [string, RawScript][] = [
  [
    'refuses them',
    withId({ id: null, error: { code: -32600, message: 'batch requests are not supported' } }),
  ],
  ['answers with a bad status', says('Payload too large', 413)],
  ['answers fewer than were asked', (response) => response.end('[{"jsonrpc":"2.0","id":1,"result":"0x1"}]')],
  ['answers one twice', batch((calls) => calls.map(() => ({ jsonrpc: '2.0', id: 1, result: '0x1' })))],
  [
    'answers more than was asked',
    batch((calls) => [...calls, { id: 99 }].map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x77' }))),
  ],
  [
    'answers what was not asked',
    batch((calls) => calls.map(({ id }) => ({ jsonrpc: '2.0', id: id + 100, result: '0x1' }))),
  ],
]

test.each(refusals)(
  'a node that takes no batches, and %s, is asked one by one from then on',
  async (_what, script) => {
    server.behave((response, asked) => (isSeveral(asked) ? script : answersEach)(response, asked))
    const node = open()
    expect(await several(node, 4)).toEqual(numbers(4))
    expect(server.asked.map(isSeveral)).toEqual([true, false, false, false, false])
    server.asked.length = 0
    await several(node, 3)
    expect(server.asked.map(isSeveral)).toEqual([false, false, false])
  },
)

test('an error of one of them is its own, and one that was too many is asked for again', async () => {
  let refused = false
  server.behave((response, asked) => {
    if (!isSeveral(asked)) {
      answersEach(response, asked)
      return
    }
    refused = true
    const errors = new Map([
      [2, { code: -32000, message: 'header not found' }],
      [3, { code: 429, message: 'Too Many Requests' }],
    ])
    const answers = asked.map(({ id }) => {
      const error = errors.get(id)
      return { jsonrpc: '2.0', id, ...(error === undefined ? { result: `0x${id}` } : { error }) }
    })
    response.end(JSON.stringify(answers))
  })
  const [first, second, third, fourth] = await several(open(), 4)
  expect(refused).toBe(true)
  expect([first, third, fourth]).toEqual(
    ['0x1', '0x3', '0x4'].map((value) => ({ status: 'fulfilled', value })),
  )
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'remote_failed' } })
})
