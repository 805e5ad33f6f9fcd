import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identifyProcess } from '../../src/sandbox/processes.ts'
import { endLeftovers, ownFolder, recordProcess } from './leftover.ts'

let stack: AsyncDisposableStack
let parent: string
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  parent = await mkdtemp(join(tmpdir(), 'depositd-leftover-'))
  stack.defer(() => rm(parent, { recursive: true, force: true }))
})
afterEach(() => stack.disposeAsync())

function spawnIdle() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const ended = once(child, 'exit')
  stack.defer(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { pid: child.pid ?? 0, ended, isRunning: () => identifyProcess(child.pid ?? 0) !== null }
}

async function worldFolder(name: string): Promise<string> {
  const folder = join(parent, name)
  await mkdir(join(folder, 'deep'), { recursive: true })
  return folder
}

/** As a run leaves it that was killed. */
async function abandon(folder: string): Promise<void> {
  const run = spawnIdle()
  const identity = identifyProcess(run.pid)
  process.kill(run.pid, 'SIGKILL')
  await run.ended
  await writeFile(join(folder, 'owner.json'), JSON.stringify({ pid: run.pid, identity }))
}

test('what a killed run left is ended with its folder, also what stands still', async () => {
  const folder = await worldFolder('depositd-chaos-aB3xY9')
  const [running, stopped, outsider] = [spawnIdle(), spawnIdle(), spawnIdle()]
  recordProcess(folder, running.pid)
  recordProcess(join(folder, 'deep'), stopped.pid)
  process.kill(stopped.pid, 'SIGSTOP')
  await abandon(folder)
  expect(await endLeftovers(parent)).toEqual([folder])
  await Promise.all([running.ended, stopped.ended])
  expect(existsSync(folder)).toBe(false)
  expect(outsider.isRunning()).toBe(true)
})

test('the folders of who lives, of nobody, and of other things are left as they are', async () => {
  const [living, nameless, logs] = await Promise.all(
    ['depositd-chaos-living', 'depositd-chaos-nobody', 'depositd-chaos-failed-aB3xY9'].map(worldFolder),
  )
  const running = spawnIdle()
  for (const folder of [living, nameless, logs]) recordProcess(folder ?? '', running.pid)
  ownFolder(living ?? '')
  await abandon(logs ?? '')
  expect(await endLeftovers(parent)).toEqual([])
  expect(running.isRunning()).toBe(true)
})

test('a number that another process has by now is left alone', async () => {
  const folder = await worldFolder('depositd-chaos-aB3xY9')
  const another = spawnIdle()
  const record = { pid: another.pid, identity: 'an earlier one', stopSignal: 'SIGTERM' }
  await writeFile(join(folder, 'redis.process.json'), JSON.stringify(record))
  await abandon(folder)
  expect(await endLeftovers(parent)).toEqual([folder])
  expect(another.isRunning()).toBe(true)
})
