import { expect, test } from 'vitest'
import { secretsOf } from '../../src/config/secrets-of.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { defaultService } from '../../src/core/evidence.ts'

const environment = {
  DATABASE_URL: 'postgres://me@db/x?sslmode=require&password=p%40ssword',
  QUEUE_URL: 'redis://:queuepass@queue',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'sk_live_1',
  OPS_TOKEN: 'token-of-the-ops-port',
  WEBHOOK_SECRETS: 'whsec_c2VjcmV0IG9mIHRoZSB3ZWJob29r',
  RPC_BASE: 'https://user-that-is-a-key:secondpart@rpc.example/v2/path-that-is-a-key?token=query-key',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/tenant-of-ours-1',
  OTEL_EXPORTER_OTLP_HEADERS: 'x-team=collector%20key',
}
const settings = parseSettings(environment, () => '')
const withCanary = {
  ...settings,
  canary: {
    service: defaultService,
    url: 'https://own.example/hooks/hook-with-a-key?key=hookkey',
    everyMs: 1,
    timeoutMs: 1,
  },
}

test.each([
  ['a password in the query of the database', 'p@ssword'],
  ['the same as it is written there', 'p%40ssword'],
  ['the password of the queue', 'queuepass'],
  ['the API key', 'sk_live_1'],
  ['the token of the ops port', 'token-of-the-ops-port'],
  ['a webhook secret without its prefix', 'c2VjcmV0IG9mIHRoZSB3ZWJob29r'],
  ['the user of a node', 'user-that-is-a-key'],
  ['the password of a node', 'secondpart'],
  ['the path of a node', 'path-that-is-a-key'],
  ['the query of a node', 'query-key'],
  ['the path of the collector', 'tenant-of-ours-1'],
  ['a header of the collector', 'collector key'],
  ['the path to which we send a webhook ourselves', 'hook-with-a-key'],
  ['the query of that', 'hookkey'],
])('%s is a secret', (_what, secret) => {
  expect(secretsOf(withCanary)).toContain(secret)
})

test('words are none', () => {
  const secrets = secretsOf(withCanary)
  for (const word of ['', 'require', 'me', 'x', 'v2', 'hooks']) expect(secrets).not.toContain(word)
})
