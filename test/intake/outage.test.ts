import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { makeSecret, signStandardWebhook } from '../support/sign-webhook.ts'

const log = pino({ level: 'silent' })
const folder = temporaryFolderOfFile()
const secret = makeSecret()
let postgres: Awaited<ReturnType<typeof startPostgres>>
let port: number

beforeAll(async () => {
  postgres = await startPostgres({ folder, durability: 'none', log })
  port = Number(new URL(postgres.url('depositd')).port)
  await postgres.createDatabase('depositd')
})
afterAll(() => postgres.stop())

test('while the database is away webhooks are answered 503 with a time to come back, metrics count them, and readiness is false', async () => {
  const settings = parseSettings(
    {
      DATABASE_URL: postgres.url('depositd'),
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_API_KEY: 'key',
      WEBHOOK_SECRETS: secret,
      RPC_BASE: 'http://127.0.0.1:9',
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(await freePort()),
      OPS_PORT: String(await freePort()),
    },
    () => '',
  )
  const daemon = await startDaemon(settings, { roles: ['http'], version: 'test', log })
  const send = async (id: string, signedBy = secret) => {
    const body = Buffer.from('{"event":"x"}')
    const headers = {
      'content-type': 'application/json',
      ...signStandardWebhook({ secret: signedBy, id, body, at: new Date() }),
    }
    const response = await fetch(daemon.webhookUrl ?? '', { method: 'POST', headers, body })
    return [response.status, response.headers.get('retry-after'), await response.json()]
  }
  const readiness = async () => {
    const response = await fetch(`${daemon.opsUrl}/readyz`)
    const { unready } = (await response.json()) as { unready: { part: string }[] }
    return { status: response.status, parts: unready.map(({ part }) => part) }
  }
  const scrape = async () => (await fetch(`${daemon.opsUrl}/metrics`)).text()
  expect(await send('before')).toEqual([202, null, { status: 'stored' }])
  await postgres.stop()
  expect(await send('during')).toEqual([503, '5', { code: 'unavailable' }])
  expect(await send('forged', makeSecret())).toEqual([401, null, { code: 'bad_signature' }])
  const reported = await scrape()
  expect(reported).toContain('depositd_webhook_requests_total{service="default",outcome="unavailable"} 1\n')
  expect(reported).toContain('depositd_gauges_readable{part="live"} 0\n')
  expect(reported).not.toMatch(/^depositd_inbox_pending/m)
  expect(await readiness()).toMatchObject({ status: 503, parts: expect.arrayContaining(['database']) })
  postgres = await startPostgres({ folder, port, durability: 'none', log })
  await expect.poll(() => send('during'), { timeout: 30_000 }).toEqual([202, null, { status: 'stored' }])
  expect(await send('before')).toEqual([202, null, { status: 'duplicate' }])
  await expect.poll(async () => (await readiness()).parts, { timeout: 30_000 }).not.toContain('database')
  // What is scraped is told for a while: the first scrape must come after what was held back is written.
  await using db = openDatabase<Tables>({
    url: postgres.url('depositd'),
    poolMax: 1,
    applicationName: 'test',
  })
  const written = async () => (await sql`select from quarantine`.execute(db)).rows.length
  await expect.poll(written).toBe(1)
  const quarantined = async () =>
    /depositd_quarantine_deliveries\{service="default"\} (\d+)/.exec(await scrape())?.[1]
  await expect.poll(quarantined).toBe('1')
  await daemon.stop()
})
