import { createServer } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { Queue } from 'bullmq'
import express from 'express'
import { sql } from 'kysely'
import { pino } from 'pino'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { defaultService } from '../../src/core/evidence.ts'
import { createInboxWriter, type ReceivedWebhook, writerLimits } from '../../src/intake/inbox-writer.ts'
import { intakeLimits, startIntake, transfersPath } from '../../src/intake/server.ts'
import { createScheme } from '../../src/intake/signature/create-scheme.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { openDatabase } from '../../src/store/database.ts'
import { type Arm, queueName, type Serving } from './arms.ts'

/** One arm of B1 in a process of its own; its parent is told the address, and ends it by closing the channel. */

const serving = JSON.parse(process.argv[2] ?? '{}') as Serving
const starters: Record<Arm, () => Promise<string>> = {
  ours: startOurs,
  bare: startBare,
  verify: () => startWith(() => Promise.resolve()),
  writer: startWriter,
  queue: startQueue,
  insert: startInsert,
}
process.once('disconnect', () => process.exit(0))
process.send?.({ url: await starters[serving.arm]() })

/** The daemon as it runs, with the role `http` alone. */
async function startOurs(): Promise<string> {
  const settings = parseSettings(
    {
      DATABASE_URL: serving.databaseUrl,
      QUEUE_URL: serving.redisUrl,
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_API_KEY: 'key',
      WEBHOOK_SECRETS: serving.secret,
      RPC_BASE: 'http://127.0.0.1:9',
      HTTP_HOST: loopback,
      HTTP_PORT: String(await freePort()),
      OPS_PORT: String(await freePort()),
    },
    () => '',
  )
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon(settings, { roles: ['http'], version: 'bench', log })
  return daemon.webhookUrl ?? ''
}

async function startBare(): Promise<string> {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.post(transfersPath, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-length': 2 })
      response.end('ok')
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => void createServer(app).listen(port, loopback, resolve))
  return `http://${loopback}:${port}${transfersPath}`
}

/** The endpoint of the daemon, with another way to keep what was verified. */
async function startWith(keep: (row: ReceivedWebhook) => Promise<unknown>): Promise<string> {
  const signing = { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 300_000 } as const
  const secrets = [{ text: serving.secret, notBefore: null, notAfter: null }]
  const admitting = {
    service: defaultService,
    verify: createScheme(signing, { secrets, publicKeys: null }),
    signing,
    secrets,
    readEventId: () => null,
  }
  const intake = await startIntake({
    port: 0,
    host: loopback,
    trustedProxies: [],
    limits: intakeLimits,
    admissionOf: () => admitting,
    write: (row) => keep(row).then(() => 'stored' as const),
    quarantine: () => undefined,
    now: () => new Date(),
    observe: () => undefined,
    onStored: () => undefined,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  return intake.url + transfersPath
}

function startWriter(): Promise<string> {
  const writer = createInboxWriter({
    ...writerLimits,
    store: async (rows) => {
      await setImmediate()
      return rows.map(() => 'stored')
    },
  })
  return startWith(writer.write)
}

function startQueue(): Promise<string> {
  const { hostname, port } = new URL(serving.redisUrl)
  const queue = new Queue(queueName, { connection: { host: hostname, port: Number(port) } })
  return startWith(({ sourceKey, body, headers }) =>
    queue.add('webhook', { id: sourceKey, body: body.toString(), headers }),
  )
}

function startInsert(): Promise<string> {
  const db = openDatabase({ url: serving.databaseUrl, poolMax: 12, applicationName: 'bench insert' })
  return startWith(({ sourceKey, body, headers, receivedAt }) =>
    sql`insert into inbox (source, source_key, body, headers, received_at)
      values ('webhook', ${sourceKey}, ${body}, ${JSON.stringify(headers)}::jsonb, ${receivedAt})
      on conflict (source, source_key) do nothing`.execute(db),
  )
}
