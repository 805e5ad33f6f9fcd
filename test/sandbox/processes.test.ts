import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { endLeftover, identifyProcess, startChild } from '../../src/sandbox/processes.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runProgram } from '../support/programs.ts'
import { until } from '../support/until.ts'
import { readyFile, savedFile, saverSettings } from './fixtures/saver.ts'

const log = pino({ level: 'silent' })

test('a program left over by a killed parent is asked to save its state before the next start', async () => {
  const folder = await temporaryFolder()
  const parent = await runProgram('test/sandbox/fixtures/start-saver.ts', folder)
  const leftover = Number(parent.line)
  await until('the program is ready', () => existsSync(readyFile(folder)) || null)
  await parent.killHard()
  expect(identifyProcess(leftover)).not.toBeNull()

  const next = await startChild(saverSettings(folder, log))
  expect(identifyProcess(leftover)).toBeNull()
  expect(await readFile(savedFile(folder), 'utf8')).toBe(String(leftover))
  await next.stop()
  expect(identifyProcess(next.pid)).toBeNull()
})

test('a process that was given the number of an ended one is left alone', async () => {
  const folder = await temporaryFolder()
  const record = { pid: process.pid, identity: 'started at another time', stopSignal: 'SIGTERM' }
  await writeFile(join(folder, 'saver.process.json'), JSON.stringify(record))
  await endLeftover(folder, 'saver', log)
  expect(existsSync(join(folder, 'saver.process.json'))).toBe(false)
})

test('a program that ignores the request to end is ended by force', async () => {
  const folder = await temporaryFolder()
  const stubborn = `process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 1000);
    require('node:fs').writeFileSync(${JSON.stringify(readyFile(folder))}, '')`
  const child = await startChild({ ...saverSettings(folder, log), args: ['-e', stubborn] })
  await until('the program is ready', () => existsSync(readyFile(folder)) || null)
  await child.stop()
  expect(await child.ended).toBe('SIGKILL')
})

test('a program that cannot be started is a fault that names it', async () => {
  const settings = { ...saverSettings(await temporaryFolder(), log), command: '/nowhere/saver' }
  await expect(startChild(settings)).rejects.toThrow(/remote_failed: what "starting saver".*ENOENT/)
})
