import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openPrices, type QuoteSettings } from '../../../src/service/deposits/prices.ts'

const running = new AbortController().signal
let answer: (response: ServerResponse) => void
let asked = 0
const server = createServer((_request, response) => {
  asked++
  answer(response)
})
let url: string

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

let time: number

beforeEach(() => {
  time = 0
  asked = 0
  answer = (response) => response.end('{"ETH/USDC":"3000.5"}')
})

function open(changes: Partial<QuoteSettings> = {}) {
  const source = { url, everyMs: 1000, staleAfterMs: 5000 }
  const settings = { prices: {}, source, feeBasisPoints: 0, spreadBasisPoints: 0, ...changes }
  return openPrices(settings, () => time)
}

test('what the source answers are the prices, and none is missed before it was asked', async () => {
  const prices = open()
  expect(prices.current()).toBeNull()
  await prices.refresh(running)
  expect(prices.current()).toEqual({ 'ETH/USDC': '3000.5' })
})

test('the pairs of the table are fixed, and those of the source stand beside them', async () => {
  const prices = open({ prices: { 'ETH/USDC': '1', 'SOL/USDC': '2' } })
  answer = (response) => response.end('{"ETH/USDC":"3000.5","USDT/USDC":"0.99"}')
  await prices.refresh(running)
  expect(prices.current()).toEqual({ 'ETH/USDC': '1', 'SOL/USDC': '2', 'USDT/USDC': '0.99' })
})

test('a table alone is asked of nobody', async () => {
  const prices = open({ prices: { 'ETH/USDC': '1' }, source: null })
  await prices.refresh(running)
  expect(asked).toBe(0)
  expect(prices.current()).toEqual({ 'ETH/USDC': '1' })
})

test('prices that are older than allowed are not used, by the time of the question', async () => {
  const prices = open({ prices: { 'SOL/USDC': '2' } })
  answer = (response) => {
    time = 1000
    response.end('{"ETH/USDC":"3000.5"}')
  }
  await prices.refresh(running)
  time = 5000
  expect(prices.current()).toHaveProperty(['ETH/USDC'])
  time = 5001
  expect(prices.current()).toEqual({ 'SOL/USDC': '2' })
})

const hugeAnswer = `{"ETH/USDC":"${'1'.repeat(300_000)}"}`

test.each<[string, (response: ServerResponse) => void, string]>([
  ['an error', (response) => response.writeHead(503).end('{}'), 'status 503'],
  ['a redirect', (response) => response.writeHead(302, { location: '/other' }).end(), 'remote_failed'],
  ['no JSON', (response) => response.end('<html>'), 'remote_failed'],
  ['bytes that are no text', (response) => response.end(Buffer.from([0x7b, 0xff])), 'remote_failed'],
  ['a list', (response) => response.end('["3000"]'), 'not an object'],
  ['nothing', (response) => response.end('null'), 'not an object'],
  ['a number', (response) => response.end('{"ETH/USDC":3000.5}'), 'quote ETH/USDC = 3000.5'],
  ['a price of zero', (response) => response.end('{"ETH/USDC":"0"}'), 'quote ETH/USDC = 0'],
  ['an exponent', (response) => response.end('{"ETH/USDC":"3e3"}'), 'quote ETH/USDC = 3e3'],
  ['one bad pair among good ones', (response) => response.end('{"A/B":"1","AB":"1"}'), 'quote AB = 1'],
  ['more than a source may say', (response) => response.end(hugeAnswer), 'longer than'],
  ['a broken connection', (response) => response.destroy(), 'remote_failed'],
])('%s changes no price', async (_what, bad, problem) => {
  const prices = open()
  await prices.refresh(running)
  answer = bad
  await expect(prices.refresh(running)).rejects.toThrow(problem)
  expect(prices.current()).toEqual({ 'ETH/USDC': '3000.5' })
})

test('a source that was asked in vain has no price', async () => {
  const prices = open()
  answer = (response) => response.writeHead(503).end('{}')
  await expect(prices.refresh(running)).rejects.toThrow('status 503')
  expect(prices.current()).toEqual({})
})

test('a redirect is not followed', async () => {
  answer = (response) => response.writeHead(302, { location: '/other' }).end()
  await expect(open().refresh(running)).rejects.toThrow('remote_failed')
  expect(asked).toBe(1)
})

test('it stops asking when the service stops', async () => {
  const stopping = new AbortController()
  answer = () => stopping.abort()
  await expect(open().refresh(stopping.signal)).rejects.toThrow('remote_failed')
})
