import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { isStopped } from './daemons.ts'
import type { Orders } from './preload.ts'
import { passTime, preloaded, setClock, watchLoop } from './preloaded.ts'

const failpoint = pathToFileURL(join(import.meta.dirname, '../../src/failpoint.ts')).href

/** Comes to a failpoint, tells its clocks, or holds itself up, as each line of its input says. */
const program = `
  import { createInterface } from 'node:readline'
  import { reach } from '${failpoint}'
  for await (const line of createInterface({ input: process.stdin })) {
    const [, held = '0'] = /^hold (.*)$/.exec(line) ?? []
    const before = process.threadCpuUsage()
    const used = ({ user, system }) => (user + system) / 1000
    while (used(process.threadCpuUsage(before)) < Number(held));
    if (line.includes('.')) reach(line)
    const clocks = [Date.now(), new Date().getTime(), Date.parse(Date()), performance.timeOrigin + performance.now()]
    console.log(JSON.stringify({ line, clocks, fixed: [new Date(5).getTime(), Date.UTC(2026, 1)] }))
  }
  process.exit(7)
`

type Reported = { line: string; clocks: number[]; fixed: number[] }

let stack: AsyncDisposableStack
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

function start(orders: Orders) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
    env: { PATH: process.env.PATH, ...preloaded(orders) },
  })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  stack.defer(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('it has no pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const say = (line: string) => void stdin.write(`${line}\n`)
  const heard = async () => JSON.parse(String((await lines.next()).value)) as Reported
  return { child, pid: child.pid ?? 0, ended, say, heard, end: () => void stdin.end() }
}

test('a process dies by SIGKILL the nth time that it comes to the place, and at no other', async () => {
  const { say, heard, ended } = start({ dieAt: { failpoint: 'apply.read', nth: 2 } })
  for (const place of ['apply.read', 'apply.committed', 'apply.committed']) {
    say(place)
    expect((await heard()).line).toBe(place)
  }
  say('apply.read')
  expect(await ended).toEqual([null, 'SIGKILL'])
})

test('a process stands still the first time, goes on when it is told to, and never stands still again', async () => {
  const one = start({ stopAt: { failpoint: 'scan.read' } })
  one.say('scan.read')
  await until('it stands still', () => isStopped(one) || null)
  one.child.kill('SIGCONT')
  expect((await one.heard()).line).toBe('scan.read')
  one.say('scan.read')
  expect((await one.heard()).line).toBe('scan.read')
})

test('the clock is stepped both ways and back, and what is not the time of now stays', async () => {
  const { child, say, heard } = start({})
  const toleratedMs = 60_000
  for (const clockMs of [3_600_000, -3_600_000, 0]) {
    await setClock(child, clockMs)
    say('clocks')
    const { clocks, fixed } = await heard()
    const [now, made, written, monotonic] = clocks.map((time) => time - Date.now())
    for (const shown of [now, made, written])
      expect(Math.abs((shown ?? Number.NaN) - clockMs)).toBeLessThan(toleratedMs)
    expect(Math.abs(monotonic ?? Number.NaN)).toBeLessThan(toleratedMs)
    expect(fixed).toEqual([5, Date.UTC(2026, 1)])
  }
})

test('time passes by the monotonic clock alone, and adds up', async () => {
  const { child, say, heard } = start({})
  const day = 86_400_000
  for (const days of [1, 3]) {
    await passTime(child, (days === 1 ? 1 : 2) * day)
    say('clocks')
    const [now, , , monotonic] = (await heard()).clocks.map((time) => time - Date.now())
    expect(Math.abs(now ?? Number.NaN)).toBeLessThan(60_000)
    expect(Math.abs((monotonic ?? Number.NaN) - days * day)).toBeLessThan(60_000)
  }
})

test('what holds up the event loop is told to its longest, and nothing of before', async () => {
  const { child, say, heard } = start({})
  const hold = async (line: string) => {
    say(line)
    expect((await heard()).line).toBe(line)
  }
  await hold('hold 900')
  const loopSeen = await watchLoop(child)
  await hold('hold 400')
  await setTimeout(300)
  await setClock(child, 1000)
  const { maxMs, p99Ms, looks } = await loopSeen()
  // Of time that others had the processor, however long that was, nothing is told.
  expect(maxMs).toBeGreaterThan(350)
  expect(maxMs).toBeLessThan(850)
  expect(p99Ms).toBeLessThanOrEqual(maxMs)
  expect(looks).toBeGreaterThan(1)
})

test('one that has ended shows no time any more, and tells nothing', async () => {
  const { child, end, ended } = start({})
  const loopSeen = await watchLoop(child)
  end()
  await ended
  await setClock(child, 1000)
  await expect(loopSeen()).rejects.toThrow('the process ended')
})

test('a process dies with the run that started it', async () => {
  const { child, ended } = start({})
  child.disconnect()
  expect(await ended).toEqual([null, 'SIGKILL'])
})

test('a process ends by itself although it listens', async () => {
  const { end, ended } = start({})
  end()
  expect(await ended).toEqual([7, null])
})
