import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { askInBatch, type EvmNode } from '../../src/chain/evm/node.ts'
import type { ReaderBounds } from '../../src/chain/options.ts'
import {
  answersEach,
  isSeveral,
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
  server.behave((response, asked) => {
    const calls = isSeveral(asked) ? asked : [asked]
    response.end(
      JSON.stringify(
        calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: `0x${id.toString(16)}` })).toReversed(),
      ),
    )
  })
  expect(await several(open(), 5)).toEqual(numbers(5))
})

const refusals: [string, RawScript][] = [
  [
    'refuses them',
    withId({ id: null, error: { code: -32600, message: 'batch requests are not supported' } }),
  ],
  ['answers with a bad status', says('Payload too large', 413)],
  ['answers fewer than were asked', (response) => response.end('[{"jsonrpc":"2.0","id":1,"result":"0x1"}]')],
  [
    'answers one twice',
    (response, asked) => {
      const calls = isSeveral(asked) ? asked : [asked]
      response.end(JSON.stringify(calls.map(() => ({ jsonrpc: '2.0', id: 1, result: '0x1' }))))
    },
  ],
  [
    'answers more than was asked',
    (response, asked) => {
      const calls = isSeveral(asked) ? asked : [asked]
      const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x77' }))
      response.end(JSON.stringify([...answers, { jsonrpc: '2.0', id: 99, result: '0x77' }]))
    },
  ],
  [
    'answers what was not asked',
    (response, asked) => {
      const calls = isSeveral(asked) ? asked : [asked]
      response.end(JSON.stringify(calls.map(({ id }) => ({ jsonrpc: '2.0', id: id + 100, result: '0x1' }))))
    },
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
