import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sandboxSecrets } from '../../src/sandbox/sandbox-service.ts'
import { isApiKey } from '../../src/service/api-keys.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-secrets-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('the secrets of a folder are made once, in a file that only its user can read', async () => {
  const secrets = sandboxSecrets(folder)
  expect(sandboxSecrets(folder)).toEqual(secrets)
  expect((await stat(join(folder, 'secrets.json'))).mode & 0o077).toBe(0)
})

test('keys of another form are made anew, and the seed and the webhook secret stay', async () => {
  const path = join(folder, 'secrets.json')
  const old = { readKey: 'read_x', writeKey: 'write_y', webhookSecret: 'whsec_eA==', seed: 'ab'.repeat(32) }
  await writeFile(path, JSON.stringify(old))
  const { readKey, writeKey, ...kept } = sandboxSecrets(folder)
  expect([readKey, writeKey].every(isApiKey)).toBe(true)
  expect(kept).toEqual({ webhookSecret: old.webhookSecret, seed: old.seed })
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ readKey, writeKey, ...kept })
})
