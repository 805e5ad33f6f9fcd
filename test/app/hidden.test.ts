import { pino } from 'pino'
import { expect, test } from 'vitest'
import { composeConsole } from '../../src/app/console.ts'
import { composeTracing } from '../../src/app/daemon.ts'
import { composeReadiness } from '../../src/app/health.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { createReadiness } from '../../src/ops/readiness.ts'
import { startOps } from '../../src/ops/server.ts'
import { pageAt } from '../support/console-reader.ts'
import { emptyReading, readAs } from '../support/ops-server.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { emptyDatabase } from '../support/postgres.ts'

/** What the log leaves out, neither readiness nor the console nor a trace tells. */

const realSecrets = ['sk_live_9f8e7d6c', 'aB3dEfGh1jKlMnOp', 'p@ss/word', 'queuepass', 'collectorKey1']

function settingsWith(changes: Record<string, string> = {}): Settings {
  const environment = {
    DATABASE_URL: 'postgres://me:p%40ss%2Fword@127.0.0.1:9/x',
    QUEUE_URL: 'redis://:queuepass@queue',
    SERVICE_URL: 'https://service.example',
    SERVICE_API_KEY: 'sk_live_9f8e7d6c',
    WEBHOOK_SECRETS: 'whsec_c2VjcmV0IG9mIHRoZSB3ZWJob29r',
    RPC_BASE: 'https://rpc.example/v2/aB3dEfGh1jKlMnOp',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=collectorKey1',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example',
    ...changes,
  }
  return parseSettings(environment, () => '')
}

const saying = (): Promise<never> => Promise.reject(new Error(`it said ${realSecrets.join(', ')}`))

test('readiness', async () => {
  const asked = {
    roles: ['worker'],
    queue: { ping: saying },
    services: { followed: () => ({ services: [] }) },
  }
  await using checks = await composeReadiness(settingsWith(), asked as never)
  const answer = await createReadiness(checks)()
  expect(answer.unready).toContainEqual({
    part: 'queue',
    problem: 'it said [redacted], [redacted], [redacted], [redacted], [redacted]',
  })
})

test('traces', async () => {
  const receiver = await startOtlpReceiver()
  const settings = settingsWith({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  const deps = { db: {} as never, log: pino({ level: 'silent' }), version: 'test' }
  const tracing = await composeTracing(settings, deps)
  await expect(tracing.job({ name: 'poll', key: '' }, saying)).rejects.toThrow('it said')
  await tracing.stop()
  await receiver.stop()
  expect(receiver.spans[0]).toMatchObject({
    status: { message: 'it said [redacted], [redacted], [redacted], [redacted], [redacted]' },
  })
})

test('the console', async () => {
  await using database = await emptyDatabase().then((made) => ({ ...made, [Symbol.asyncDispose]: made.drop }))
  const place = new URL(database.url)
  // What the server says of a database that is not there, it says with its name.
  place.pathname = '/sk_live_9f8e7d6c'
  const readiness = { checks: [], isNeeded: () => true }
  const settings = settingsWith({ DATABASE_URL: place.href })
  const deps = {
    version: 'test',
    services: { names: () => ['default'], followed: () => settings },
    ops: { url: 'http://127.0.0.1:9464' },
    gauges: { read: readAs(emptyReading) },
    readiness,
  }
  await using shown = composeConsole(settings, deps)
  const ops = await startOps({ host: '127.0.0.1', port: 0, metrics: createMetrics('test') })
  ops.open(shown)
  for (const path of ['/', '/deposits', '/ledger']) {
    const { text } = await pageAt(ops.url + path)
    expect(text).toContain('[redacted]')
    expect(text).not.toContain('sk_live')
  }
  await ops.stop()
})
