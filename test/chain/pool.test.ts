import { beforeEach, expect, test } from 'vitest'
import { type NodeHealth, newHealth, noteLatency, Pool } from '../../src/chain/pool.ts'
import { Fault } from '../../src/core/errors.ts'

type Node = { name: string; host: string; health: NodeHealth }

const restMs = 30_000

let nowMs: number
let nodes: Node[]
let identified: string[]
/** Names of nodes that fail, and of those that are of another chain. */
let away: Set<string>
let strange: Set<string>
let pool: Pool<Node>
let scores: Map<string, number>

beforeEach(() => {
  nowMs = 1000
  identified = []
  away = new Set()
  strange = new Set()
  nodes = ['one', 'two', 'three'].map((name) => ({ name, host: name, health: newHealth() }))
  scores = new Map()
  pool = new Pool({
    nodes,
    restMs,
    nowMs: () => nowMs,
    chainFaults,
    observe: ({ host, score }) => void scores.set(host, score),
  })
})

function chainFaults({ name }: Node): Promise<string[]> {
  identified.push(name)
  if (away.has(name)) return Promise.reject(failureOf(name))
  return Promise.resolve(strange.has(name) ? [`${name} is of another chain`] : [])
}

function failureOf(name: string): Fault {
  return new Fault('remote_failed', { what: name, problem: 'away' })
}

const ask = (): Promise<string> =>
  pool.onFirst(({ name }) => (away.has(name) ? Promise.reject(failureOf(name)) : Promise.resolve(name)))

const order = () => pool.inOrder().map(({ name }) => name)

test('the preferred node is asked as long as it is well, and for its chain only once', async () => {
  expect([await ask(), await ask(), await ask()]).toEqual(['one', 'one', 'one'])
  expect(identified).toEqual(['one'])
})

test('a node that failed rests; then preference returns, and it shows its chain again', async () => {
  await ask()
  away.add('one')
  expect(await ask()).toBe('two')
  expect(order()).toEqual(['two', 'three', 'one'])
  away.clear()
  identified.length = 0
  expect(await ask()).toBe('two')
  nowMs += 10 * restMs
  expect(await ask()).toBe('one')
  expect(identified).toEqual(['one'])
})

test('a node that keeps failing rests longer and longer, up to ten times as long', async () => {
  away.add('one')
  const rests: number[] = []
  for (let failures = 0; failures < 30; failures++) {
    await ask()
    const [one] = nodes
    rests.push((one?.health.restUntilMs ?? 0) - nowMs)
    nowMs += 10 * restMs
  }
  expect(rests[0]).toBeGreaterThanOrEqual(restMs)
  expect(rests[0]).toBeLessThan(3 * restMs)
  expect(rests).toEqual(rests.toSorted((one, other) => one - other))
  expect(rests.at(-1)).toBeGreaterThan(9 * restMs)
  expect(rests.at(-1)).toBeLessThanOrEqual(10 * restMs)
})

test('where all rest, they are asked all the same', async () => {
  for (const name of ['one', 'two', 'three']) away.add(name)
  await expect(ask()).rejects.toThrow(/all 3 nodes.*one: away; two: away; three: away/)
  away.delete('two')
  expect(await ask()).toBe('two')
})

test('a node that is much slower than the next is asked after it for a while', () => {
  const [one, two] = nodes
  if (one === undefined || two === undefined) throw new Error('there are three')
  noteLatency(two.health, 20)
  noteLatency(one.health, 200)
  expect(order()).toEqual(['one', 'two', 'three'])
  for (let answers = 0; answers < 20; answers++) noteLatency(one.health, 2000)
  expect(order()).toEqual(['two', 'three', 'one'])
  nowMs += restMs
  expect(order()).toEqual(['one', 'two', 'three'])
})

test('a node alone is never too slow', () => {
  const [one] = nodes
  if (one === undefined) throw new Error('there are three')
  noteLatency(one.health, 60_000)
  expect(order()).toEqual(['one', 'two', 'three'])
})

test('a node of another chain is passed over while another is right, and named where none is', async () => {
  strange.add('one')
  expect(await ask()).toBe('two')
  away.add('two')
  away.add('three')
  await expect(ask()).rejects.toMatchObject({
    code: 'settings_bad',
    details: { faults: ['one is of another chain'] },
  })
})

test('what is no failure of a node is thrown at once, and no node rests for it', async () => {
  const lost = new Fault('history_lost', { network: 'base', problem: 'gone', fix: 'read again' })
  const asked: string[] = []
  const failing = pool.onFirst(({ name }) => {
    asked.push(name)
    return Promise.reject(lost)
  })
  await expect(failing).rejects.toBe(lost)
  expect(asked).toEqual(['one'])
  expect(order()).toEqual(['one', 'two', 'three'])
})

test('an answer with an unexpected format counts as a failure of its node, with the thrown error as its cause', async () => {
  const odd = new TypeError("Cannot read properties of undefined (reading 'toLowerCase')")
  const failing = pool.on(nodes[0] ?? { name: '', host: '', health: newHealth() }, () => Promise.reject(odd))
  await expect(failing).rejects.toMatchObject({ code: 'remote_failed', cause: odd })
  expect(order()).toEqual(['two', 'three', 'one'])
})

test('each work tells the score of its node: lower while it fails or is slow, better with each success', async () => {
  away.add('one')
  await ask()
  expect(scores).toEqual(
    new Map([
      ['one', 0.8],
      ['two', 1],
    ]),
  )
  const [one, two] = nodes
  if (one === undefined || two === undefined) throw new Error('there are three')
  noteLatency(two.health, 1000)
  await pool.on(two, () => Promise.resolve())
  expect(scores.get('two')).toBe(0.5)
  away.clear()
  await pool.on(one, () => Promise.resolve())
  expect(scores.get('one')).toBeGreaterThan(0.8)
  expect(scores.get('one')).toBeLessThan(1)
})
