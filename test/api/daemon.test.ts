import { once } from 'node:events'
import { createServer } from 'node:http'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { roles as allRoles, type Role } from '../../src/health.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

type StartChoice = { port: number | null; roles?: readonly Role[] }

async function start({ port, roles = ['http'] }: StartChoice): Promise<Daemon> {
  const environment = judgingEnvironment(database.url, {
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
    ...(port !== null && { API_PORT: String(port) }),
  })
  const settings = parseSettings(environment, () => '')
  const daemon = await startDaemon(settings, { roles, version: 'test', log: pino({ level: 'silent' }) })
  onTestFinished(daemon.stop)
  return daemon
}

test('a daemon with API_PORT and the role http serves the API there, and never on the port of webhooks', async () => {
  const port = await freePort()
  const daemon = await start({ port })
  expect(daemon.apiUrl).toBe(`http://${loopback}:${port}`)
  expect((await fetch(`${daemon.apiUrl}/v1/deposits`)).status).toBe(401)
  const description = (await (await fetch(`${daemon.apiUrl}/v1/openapi.json`)).json()) as { openapi: string }
  expect(description.openapi).toBe('3.1.1')
  for (const url of [daemon.webhookUrl ?? '', daemon.opsUrl])
    expect((await fetch(new URL('/v1/openapi.json', url))).status).not.toBe(200)
  await daemon.stop()
  await expect(fetch(`${daemon.apiUrl}/v1/openapi.json`)).rejects.toThrow('fetch failed')
})

test('without API_PORT, or without the role, there is no API', async () => {
  expect((await start({ port: null })).apiUrl).toBeNull()
  const others = allRoles.filter((role) => role === 'scheduler')
  expect((await start({ port: await freePort(), roles: others })).apiUrl).toBeNull()
})

test('a port that is taken stops the start, and is named', async () => {
  const taken = createServer().listen(0, loopback)
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { port: number }
  await expect(start({ port })).rejects.toThrow(`API_PORT ${port} cannot be used`)
})
