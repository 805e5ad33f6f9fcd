import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSettings } from '../../../src/config/settings.ts'
import type { ServiceName } from '../../../src/core/evidence.ts'
import { madeIn } from '../../../src/doctor/finding.ts'
import { connectionFinding, secretFinding } from '../../../src/doctor/secrecy.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { serviceAuth } from '../../support/service-auth.ts'

const safe = {
  DATABASE_URL: 'postgres://me:hunter2@127.0.0.1/books',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'key',
  WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  RPC_BASE: 'http://localhost:8545,https://node.example/v2/hunter2',
}

const finding = (changes: Record<string, string>) =>
  connectionFinding(
    parseSettings({ ...safe, ...changes }, () => '{}'),
    madeIn({ ...safe, ...changes }),
  )

test.each([
  {},
  { DATABASE_URL: 'postgres://me@db.example/books?sslmode=verify-full' },
  { DATABASE_URL: 'postgres://me@db.example/books?uselibpqcompat=true&sslmode=verify-full' },
  { DATABASE_URL: 'postgres://me@db.example/books?sslmode=disable&sslmode=verify-full' },
  { DATABASE_URL: 'postgres://me@%2Fvar%2Frun%2Fpostgresql/books' },
  { DATABASE_URL: 'postgres:///books?host=/var/run/postgresql' },
  { QUEUE_URL: 'rediss://queue.example' },
  { QUEUE_URL: 'redis://[::1]:6379' },
])('what stays here, or is encrypted and verified, is fine: %j', (changes) => {
  expect(finding(changes).state).toBe('ok')
})

test.each<[Record<string, string>, string]>([
  [{ DATABASE_URL: 'postgres://me:hunter2@db.example/books' }, 'DATABASE_URL (db.example)'],
  [
    { DATABASE_URL: 'postgres://me@db.example/b?sslmode=disable', QUEUE_URL: 'redis://localhost' },
    'DATABASE_URL (db.example)',
  ],
  [
    { DATABASE_URL: 'postgres://me@db.example/b?sslmode=no-verify', QUEUE_URL: 'redis://localhost' },
    'DATABASE_URL (db.example)',
  ],
  [
    {
      DATABASE_URL: 'postgres://me@db.example/b?uselibpqcompat=true&sslmode=require',
      QUEUE_URL: 'redis://localhost',
    },
    'DATABASE_URL (db.example)',
  ],
  [
    {
      DATABASE_URL: 'postgres://me@db.example/b?sslmode=verify-full&sslmode=disable',
      QUEUE_URL: 'redis://localhost',
    },
    'DATABASE_URL (db.example)',
  ],
  [
    { DATABASE_URL: 'postgres://me@localhost/b?host=db.example', QUEUE_URL: 'redis://localhost' },
    'DATABASE_URL (localhost)',
  ],
  [{ QUEUE_URL: 'redis://:hunter2@queue.example:6379' }, 'QUEUE_URL (queue.example:6379)'],
  [{ SERVICE_URL: 'http://service.example' }, 'SERVICE_URL (service.example)'],
  [{ RPC_BASE: 'https://node.example,http://10.0.0.2:8545/hunter2' }, 'RPC_BASE (10.0.0.2:8545)'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' },
    'OTEL_EXPORTER_OTLP_ENDPOINT (collector.example:4318)',
  ],
])('what others could read is warned of by its setting and host, and by no secret: %j', (changes, named) => {
  const { state, says } = finding(changes)
  expect([state, says]).toEqual(['warning', `not encrypted, or not verified: ${named}`])
  expect(says).not.toContain('hunter2')
})

test('a file of a secret that others can read is warned of, with the mend', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'key')
  writeFileSync(path, 'key')
  for (const [mode, state] of [
    [0o600, 'ok'],
    [0o640, 'ok'],
    [0o644, 'warning'],
    [0o602, 'warning'],
  ] as const) {
    chmodSync(path, mode)
    expect([mode, secretFinding({ SERVICE_API_KEY_FILE: path }).state]).toEqual([mode, state])
  }
  expect(secretFinding({ SERVICE_API_KEY_FILE: path, RPC_BASE_FILE: join(folder, 'none') })).toEqual({
    check: 'secrets',
    state: 'warning',
    says: `SERVICE_API_KEY_FILE: ${path} can be read by other users`,
    fix: `chmod o= ${path}`,
  })
})

test('so is the file of a token, by the key that names it', async () => {
  const path = join(await temporaryFolder(), 'token')
  writeFileSync(path, 'token', { mode: 0o644 })
  const auth = serviceAuth({ scheme: 'token-file', path }, {})
  const saysOf = (name: string) => secretFinding({}, [{ name: name as ServiceName, auth }]).says
  expect(saysOf('default')).toBe(`service.auth.path: ${path} can be read by other users`)
  expect(saysOf('acme')).toBe(`services.acme.auth.path: ${path} can be read by other users`)
  for (const name of ['SERVICE_API_SECRET_FILE', 'WEBHOOK_SECRETS_ACME_FILE'])
    expect(secretFinding({ [name]: path }).says).toContain(name)
})

test('so is each secret in the folder of secrets, and no other file there', async () => {
  const folder = await temporaryFolder()
  writeFileSync(join(folder, 'SERVICE_API_ACME_KEY'), 'key', { mode: 0o644 })
  writeFileSync(join(folder, 'README'), 'for people', { mode: 0o644 })
  expect(secretFinding({ SECRETS_DIR: folder }).says).toBe(
    `SERVICE_API_ACME_KEY: ${join(folder, 'SERVICE_API_ACME_KEY')} can be read by other users`,
  )
})

test('a folder that is only called like the one of mounted secrets is no such folder', async () => {
  const folder = join(await temporaryFolder(), 'run', 'secrets')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'key'), 'key', { mode: 0o644 })
  expect(secretFinding({ OPS_TOKEN_FILE: join(folder, 'key') }).state).toBe('warning')
})

test('where Node looks at no certificate, doctor says that and nothing of connections', async () => {
  const { status, out } = await runCommand('doctor --json', { ...safe, NODE_TLS_REJECT_UNAUTHORIZED: '0' })
  expect(status).toBe(1)
  expect(JSON.parse(out).checks).toEqual([
    {
      check: 'settings',
      state: 'fault',
      says: expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED is 0, .* unset it/),
      fix: expect.any(String),
    },
  ])
})
