import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxNetwork } from './local-networks.ts'

/** Random per folder; there is no default to guess. */
export type SandboxSecrets = { readKey: string; writeKey: string; webhookSecret: string; seed: string }

export type ServicePlace = {
  pid: number
  url: string
  databaseUrl: string
  /** Null if faults are disabled. */
  adminUrl: string | null
  networks: readonly { name: string; url: string }[]
}

const placeFile = 'service.json'
export const serviceKeyFile = { write: 'write-key', read: 'read-key' } as const

export type ServiceFiles = Record<keyof typeof serviceKeyFile, string>

/** A shell most easily reads a file with a single key. */
export function writeServiceFiles(
  folder: string,
  {
    networks,
    secrets,
    ...place
  }: Omit<ServicePlace, 'networks' | 'pid'> & {
    networks: readonly SandboxNetwork[]
    secrets: SandboxSecrets
  },
): ServiceFiles {
  const nodes = networks.map(({ name, rpcUrls }) => ({ name, url: rpcUrls[0] ?? '' }))
  const written: ServicePlace = { pid: process.pid, ...place, networks: nodes }
  writePrivate(join(folder, placeFile), `${JSON.stringify(written, null, 2)}\n`)
  const paths = { write: join(folder, serviceKeyFile.write), read: join(folder, serviceKeyFile.read) }
  writePrivate(paths.write, `${secrets.writeKey}\n`)
  writePrivate(paths.read, `${secrets.readKey}\n`)
  return paths
}

/** Null if no service ever ran here. */
export function readServicePlace(folder: string): ServicePlace | null {
  try {
    return JSON.parse(readFileSync(join(folder, placeFile), 'utf8')) as ServicePlace
  } catch {
    return null
  }
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 })
}
