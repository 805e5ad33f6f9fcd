import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isApiKey, makeApiKey } from '../service/api-keys.ts'

/** Secrets that the components of one sandbox share. Random per folder; there is no default to guess. */
export type SandboxSecrets = { readKey: string; writeKey: string; webhookSecret: string; seed: string }

/**
 * Reads the secrets of the folder, or creates them in a file that only this user can read. Keys that the service does
 * not accept are replaced; the secrets that the folder's chains and database depend on stay.
 */
export function sandboxSecrets(folder: string): SandboxSecrets {
  const path = join(folder, 'secrets.json')
  const stored = readSecrets(path)
  if (stored !== null && [stored.readKey, stored.writeKey].every(isApiKey)) return stored
  const secrets = {
    readKey: makeApiKey(),
    writeKey: makeApiKey(),
    webhookSecret: stored?.webhookSecret ?? `whsec_${randomBytes(24).toString('base64')}`,
    seed: stored?.seed ?? randomBytes(32).toString('hex'),
  }
  writeFileSync(`${path}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return secrets
}

function readSecrets(path: string): SandboxSecrets | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SandboxSecrets
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
