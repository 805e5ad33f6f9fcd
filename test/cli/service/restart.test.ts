import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/sandbox/free-port.ts'
import { spawnProgram } from '../../support/embedded-program.ts'
import { makeFolder } from '../../support/make-folder.ts'
import { processesIn } from '../../support/processes-in.ts'
import { depositd } from '../../support/shell.ts'
import { until } from '../../support/until.ts'
import { addressOn, pay, type SandboxService, startSandbox, withinMs } from '../sandbox-service.ts'

/** Starting, stopping and killing the deposit service on local chains. */

let folder: string
let program: SandboxService

beforeAll(async () => {
  folder = makeFolder('depositd-restart-')
  program = await startSandbox(folder)
})

afterAll(async () => {
  await program.end('SIGINT')
  await rm(folder, { recursive: true, force: true })
})

test('a second start, of it or of everything, is refused with the address of the first', async () => {
  const again = await depositd(['service'], { folder })
  expect(again.status).toBe(2)
  expect(again.err).toBe(
    `depositd: process ${program.pid} is already running in .depositd, with a deposit service at ${program.url}; ` +
      `use that, end it (kill ${program.pid}) or start in another folder\n`,
  )
  const everything = await depositd(['start'], { folder })
  expect(everything.status).toBe(2)
  expect(everything.err).toContain(`process ${program.pid} is already running in .depositd`)
})

test.each([
  [
    'taken',
    () => new URL(program.url).port,
    'port \\d+ is taken; use another --port, or omit it to get a free one',
  ],
  ['no port', () => '65536', '--port is "65536"; give a whole number from 1 to 65535'],
])('a port that is %s is refused before anything is started', async (_what, port, message) => {
  const { status, out, err } = await depositd(['service', '--port', port()], { folder: tmpdir() })
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toMatch(new RegExp(`^depositd: ${message}`))
})

test('killed and started again, it knows what it knew and settles what was under way', {
  timeout: 300_000,
}, async () => {
  const shop = await program.channel('shop')
  const payment = { network: 'base', asset: 'USDC', amount: '3', to: addressOn('base', shop) }
  const { out } = await pay(folder, payment)
  await program.end('SIGKILL')
  program = await startSandbox(folder, '--port', new URL(program.url).port)
  expect(await program.channel('shop')).toEqual(shop)
  await program.untilSettled(out.trim())
})

test('Ctrl-C ends it whole; the next start goes on', { timeout: 300_000 }, async () => {
  const shop = await program.channel('shop')
  expect(await program.end('SIGINT')).toBe(0)
  expect(program.output()).toMatch(/\nstopping\nstopped; the next start continues from here\n$/)
  expect(await processesIn(folder)).toEqual([])
  program = await startSandbox(folder)
  expect(await program.channel('shop')).toEqual(shop)
})

test('with --json it prints one document once it is up, and nothing else', { timeout: 300_000 }, async () => {
  const other = makeFolder('depositd-json-')
  const silent = spawnProgram(other, ['service', '--json', '--admin-port', String(await freePort())])
  await until('it is up', () => silent.output().endsWith('}\n') || null, withinMs)
  const { faults_url: faultsUrl } = JSON.parse(silent.output()) as { faults_url: string }
  const body = JSON.stringify({ dropWebhookRate: 1 })
  const json = { 'content-type': 'application/json' }
  expect((await fetch(faultsUrl, { method: 'PATCH', headers: json, body })).status).toBe(200)
  expect(await silent.end('SIGTERM')).toBe(0)
  await rm(other, { recursive: true, force: true })
  expect(JSON.parse(silent.output())).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    key_files: { write: join(other, '.depositd/write-key'), read: join(other, '.depositd/read-key') },
    networks: expect.arrayContaining([expect.objectContaining({ name: 'solana' })]),
    pid: silent.pid,
  })
})
