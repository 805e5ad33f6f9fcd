import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../src/sandbox/free-port.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import { emptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'
import { startSending } from './webhook-load.ts'

const stack = new AsyncDisposableStack()
const [older, newer, short] = [makeSecret(), makeSecret(), 'whsec_c2hvcnQ=']
let folder: string
let database: TestDatabase

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-secrets-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  database = await emptyDatabase()
  stack.defer(() => database.drop())
})
afterAll(() => stack.disposeAsync())

let versions = 0

/** Puts a new version beside the old one and moves the link, as secrets that are mounted into a container change. */
function mountSecrets(...secrets: string[]): void {
  versions++
  mkdirSync(join(folder, `v${versions}`))
  writeFileSync(join(folder, `v${versions}`, 'secrets'), `${secrets.join('\n')}\n`)
  symlinkSync(`v${versions}`, join(folder, 'next'))
  renameSync(join(folder, 'next'), join(folder, 'mounted'))
}

/** The daemon that takes in webhooks and does nothing else: neither service nor nodes are asked. */
async function startTaking(settings: Record<string, string>) {
  const [httpPort, opsPort] = [await freePort(), await freePort()]
  const program = spawnProgram(folder, ['start', '--roles', 'http'], {
    DATABASE_URL: database.url,
    SERVICE_URL: 'http://127.0.0.1:1',
    SERVICE_API_KEY: 'key',
    RPC_BASE: 'http://127.0.0.1:1',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: httpPort.toString(),
    OPS_PORT: opsPort.toString(),
    ...settings,
  })
  stack.defer(async () => void (await program.end('SIGKILL')))
  await until('webhooks are taken', () => {
    if (program.output().includes('depositd: ')) throw new Error(program.output())
    return program.output().includes('"msg":"started"') || null
  })
  const ops = `http://127.0.0.1:${opsPort}`
  return { program, ops, url: `http://127.0.0.1:${httpPort}/webhooks/transfers` }
}

const textOf = async (url: string) => (await fetch(url)).text()

test('a secret is rotated under load, and no genuine webhook is refused', async () => {
  mountSecrets(older)
  const { program, ops, url } = await startTaking({ WEBHOOK_SECRETS_FILE: join(folder, 'mounted/secrets') })
  const changes = () => program.output().split('"change":"changed"').length - 1
  const startedAt = performance.now()
  const sending = startSending(url, older)
  stack.defer(() => sending.stop())
  await until('much was sent', () => sending.sent() > 500 || null)

  mountSecrets(newer, older)
  await until('the new secret counts, for the file was looked at', () => changes() === 1 || null)
  sending.signBy(newer)
  await until('nothing signed by the old secret is under way', () => sending.underWay(older) === 0 || null)
  const atSwitch = sending.sent()
  await until('much was sent', () => sending.sent() > atSwitch + 500 || null)

  mountSecrets(newer)
  process.kill(program.pid, 'SIGHUP')
  await until('the old secret counts no more', () => changes() === 2 || null)
  mountSecrets(short)
  await until('the unusable secret is logged', () => program.output().includes('settings_refused') || null)
  const atFault = sending.sent()
  await until('much was sent', () => sending.sent() > atFault + 500 || null)
  await sending.stop()

  const genuine = sending.sent()
  const seconds = (performance.now() - startedAt) / 1000
  process.stdout.write(
    `${genuine} webhooks while secrets changed: ${Math.round(genuine / seconds)} a second\n`,
  )
  expect(sending.statuses()).toEqual({ 202: genuine })
  expect(await sending.send(older)).toBe(401)
  expect(await sending.send(newer)).toBe(202)
  const metrics = await textOf(`${ops}/metrics`)
  expect(metrics).toContain('depositd_settings_changes_total{outcome="used"} 2')
  expect(metrics).toContain('depositd_settings_changes_total{outcome="refused"} 1')
  expect(metrics).toContain('depositd_webhooks_unsigned{service="default"} 0')
  for (const secret of [older, newer, short])
    expect(program.output()).not.toContain(secret.slice('whsec_'.length))
  expect(await program.end('SIGTERM')).toBe(0)

  const client = new Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ count: string }>('select count(*) from inbox')
  await client.end()
  expect(Number(rows[0]?.count)).toBe(genuine + 1)
})

test('the scheme none is asked for by name, and shown wherever one looks', async () => {
  const { program, ops, url } = await startTaking({ WEBHOOK_SCHEME: 'none' })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', body: '{"id":"unsigned"}', headers })
  expect(answer.status).toBe(202)
  expect(program.output()).toContain('webhooks are accepted without a signature')
  expect(await textOf(`${ops}/metrics`)).toContain('depositd_webhooks_unsigned{service="default"} 1')
  expect(JSON.parse(await textOf(`${ops}/readyz`))).toMatchObject({
    warnings: expect.arrayContaining([
      { part: 'webhooks', problem: 'accepted without a signature: webhooks.scheme is none' },
    ]),
  })
  expect(await program.end('SIGTERM')).toBe(0)
})
