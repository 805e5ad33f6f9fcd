import { expect, test } from 'vitest'
import { historyCalls } from '../../../src/cli/doctor/cost.ts'
import { askSince, costOf, extrapolate, historyText } from '../../../src/cli/onboard/history.ts'
import type { Session } from '../../../src/cli/onboard/session.ts'
import { assetKey, type NetworkSettings } from '../../../src/core/asset.ts'
import { parseAmount } from '../../../src/core/money.ts'
import { base } from '../../support/evidence.ts'

const day = (number: number) => new Date(Date.UTC(2026, 0, number))

function asking(...answers: readonly string[]) {
  const said: string[] = []
  const left = [...answers]
  const ask = () => Promise.resolve(left.shift() ?? '')
  const session = { options: { wait: 0, records: 0 }, say: (text: string) => void said.push(text), ask }
  return { said, since: askSince(session as Partial<Session> as Session) }
}

test('a person is asked from when on, again if the answer is no time; no answer is from now on', async () => {
  expect(await asking('2025-01-01').since).toEqual(new Date('2025-01-01'))
  const again = asking('last year', '2025-06-01T00:00:00Z')
  expect(await again.since).toEqual(new Date('2025-06-01'))
  expect(again.said[0]).toContain('last year is no time: give a day')
  const none = asking()
  expect(await none.since).toBeUndefined()
  expect(none.said).toEqual([
    'History is not read, except for transactions that the service names. To read it, give --since.',
  ])
})

test('as many deposits are expected as the samples have in the same time, newest or oldest ones', () => {
  const daily = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, place) => day(from + place))
  expect(extrapolate(daily(91, 100), day(1), day(101))).toBe(100)
  expect(extrapolate(daily(1, 11), day(1), day(101))).toBe(110)
  expect(extrapolate(daily(1, 11), day(91), day(101))).toBe(11)
  expect(extrapolate([], day(1), day(101))).toBe(0)
})

const evm = (...codes: readonly string[]): NetworkSettings => ({
  name: base,
  family: 'evm',
  chainId: 8453,
  rpcUrls: ['http://node'],
  assets: codes.map((code) => ({
    key: assetKey(base, code as never),
    network: base,
    symbol: code,
    decimals: 6,
  })),
})

test('a year of Base costs some thousand calls, a call for each block with the native coin, and more with a quorum', () => {
  const year = { from: 1n, to: 15_768_000n, addresses: 10_000, payments: 0 }
  const tokens = evm('0x1')
  // 158 readings of 5 calls; 1,577 queries by contract, or 20 of 500 addresses each.
  expect(historyCalls(tokens, year)).toEqual({ least: 158 * 4 + 1577, most: 158 * 4 + 20 * 1577 })
  expect(historyCalls(evm('0x1', 'native'), year).least).toBeGreaterThan(15_768_000)
  const reading = { quorum: 2, finality: { kind: 'tag', tag: 'finalized' }, traces: 'never' } as const
  expect(historyCalls({ ...tokens, reading }, year).least).toBe(2 * historyCalls(tokens, year).least)
  const paid = historyCalls(tokens, { ...year, payments: 1000 })
  expect(paid.most - historyCalls(tokens, year).most).toBe(3000)
})

test('calls cost the price of a million of them, rounded up to cents', () => {
  const price = parseAmount('5.25', 6)
  expect(costOf(1_000_000, price)).toBe('5.25')
  expect(costOf(2209, price)).toBe('0.02')
  expect(costOf(0, price)).toBe('0.00')
  expect(costOf(301_513, parseAmount('0.000001', 6))).toBe('0.01')
})

test('the estimate names deposits, heights, calls and time, and what a node did not tell', () => {
  const estimate = { since: day(1), deposits: 100_000, isExact: false, listCalls: 1000 }
  const read = {
    network: 'base',
    addresses: 9,
    from: 1n,
    to: 15_768_000n,
    payments: 5,
    least: 2209,
    most: 32_172,
  }
  const networks = [
    { ...read, seconds: 1609, cost: null },
    { ...read, seconds: 1609, cost: { least: '0.02', most: '0.17' } },
    { network: 'solana', addresses: 9, problem: 'refused' },
  ]
  expect(historyText({ ...estimate, networks }).split('\n')).toEqual([
    'Reading from 2026-01-01T00:00:00.000Z on: about 100,000 deposits; calls of the list: 1,000',
    '  base: 9 addresses, heights 1 to 15,768,000: 2,209 to 32,172 calls of nodes, at most 26 min',
    '  base: 9 addresses, heights 1 to 15,768,000: 2,209 to 32,172 calls of nodes, at most 26 min, cost 0.02 to 0.17',
    '  solana: 9 addresses; no estimate: refused',
    '  Read in the background, also after a stop. To see how far it is: bin/depositd doctor',
  ])
})
