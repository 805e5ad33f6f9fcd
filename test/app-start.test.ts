import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startDaemon } from '../src/app.ts'
import { parseSettings } from '../src/config/settings.ts'
import { freePort, loopback } from '../src/sandbox/free-port.ts'
import { openDatabase } from '../src/store/database.ts'
import { appendInbox } from '../src/store/inbox.ts'
import type { Tables } from '../src/store/tables.ts'
import { testDatabase } from './support/postgres.ts'
import { makeSecret } from './support/sign-webhook.ts'
import { until } from './support/until.ts'

test('a worker takes what waited for it as soon as it starts, without a tick of any schedule', async () => {
  await using stack = new AsyncDisposableStack()
  const database = await testDatabase()
  stack.defer(() => database.drop())
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  stack.defer(() => db.destroy())
  const body = Buffer.from(JSON.stringify({ id: 'evt_1', type: 'endpoint.test', data: {} }))
  await appendInbox(db, [
    { source: 'webhook', sourceKey: 'evt_1', body, headers: {}, receivedAt: new Date() },
  ])
  const settings = parseSettings(
    {
      DATABASE_URL: database.url,
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_API_KEY: 'key',
      WEBHOOK_SECRETS: makeSecret(),
      RPC_BASE: 'http://127.0.0.1:9',
      OPS_HOST: loopback,
      OPS_PORT: String(await freePort()),
    },
    () => '',
  )
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon(settings, { roles: ['worker'], version: 'test', log })
  stack.defer(() => daemon.stop())
  const applied = await until('nothing waits', async () => {
    const { rows } = await sql`select from inbox_pending`.execute(db)
    return rows.length === 0 || null
  })
  expect(applied).toBe(true)
})
