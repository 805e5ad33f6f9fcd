import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the parts of one sandbox know each other by. Made at random, once per folder; no default to guess. */
export type SandboxSecrets = { readKey: string; writeKey: string; webhookSecret: string; seed: string }

/** Reads the folder's secrets, or makes them, in a file that only this user can read. */
export function sandboxSecrets(folder: string): SandboxSecrets {
  const path = join(folder, 'secrets.json')
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SandboxSecrets
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  const secrets = {
    readKey: `read_${randomBytes(24).toString('base64url')}`,
    writeKey: `write_${randomBytes(24).toString('base64url')}`,
    webhookSecret: `whsec_${randomBytes(24).toString('base64')}`,
    seed: randomBytes(32).toString('hex'),
  }
  writeFileSync(path, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  return secrets
}
