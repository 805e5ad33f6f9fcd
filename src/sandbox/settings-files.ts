import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { stringify } from 'yaml'
import { assetCode, type NetworkSettings } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { makeSigningKey, type NoteSigner, readSigningKey, verifierKeyText } from '../ledger/checkpoint.ts'
import { personNameForm } from '../people/decision.ts'
import { loopback } from './free-port.ts'

export type SandboxAddresses = {
  folder: string
  databaseUrl: string
  serviceUrl: string
  apiKey: string
  webhookSecret: string
  networks: readonly NetworkSettings[]
  senders: Readonly<Record<string, readonly string[]>>
  httpPort: number
  opsPort: number
  /** Overrides the sandbox's own. */
  policy?: Readonly<Record<string, unknown>>
}

const environmentFile = 'embedded.env'
const settingsFile = 'embedded.yaml'

/** Minutes are too long for a spectator: everything local is due within seconds. */
const sandboxPolicy = {
  webhookWithin: '15s',
  apiWithin: '15s',
  chainWithin: '60s',
  reportWithin: '30s',
  settlementWithin: '60s',
}
/** A spectator is alone: larger losses need a second person here too. */
const cases = { secondPersonAbove: { all: 100 } }
/** Receivers of events are on this machine too. */
const events = { allowPrivate: true }
const history = { requestsPerSecond: 1000 }
const schedule = { scan: '* * * * * *', poll: '*/2 * * * * *', sweep: '* * * * * *', pollOverlap: '10m' }

export function writeSettings(addresses: SandboxAddresses): Record<string, string> {
  const { folder, networks, senders } = addresses
  const policy = { ...sandboxPolicy, ...addresses.policy }
  const path = join(folder, settingsFile)
  const person = keyFile(join(folder, 'signing-key'), firstName())
  const file = {
    networks: networks.map(toEntry),
    service: { senders },
    policy,
    cases,
    events,
    history,
    schedule,
  }
  writeFileSync(path, stringify(file))
  const environment = {
    DATABASE_URL: addresses.databaseUrl,
    SERVICE_URL: addresses.serviceUrl,
    SERVICE_API_KEY: addresses.apiKey,
    WEBHOOK_SECRETS: addresses.webhookSecret,
    ...Object.fromEntries(
      networks.map(({ name, rpcUrls }) => [`RPC_${name.toUpperCase()}`, rpcUrls.join(',')]),
    ),
    HTTP_HOST: loopback,
    HTTP_PORT: addresses.httpPort.toString(),
    OPS_HOST: loopback,
    OPS_PORT: addresses.opsPort.toString(),
    DEPOSITD_CONFIG: path,
    LEDGER_KEY_FILE: keyFile(
      join(folder, 'ledger-key'),
      `localhost/depositd-${randomBytes(4).toString('hex')}`,
    ),
    EVENTS_KEY_FILE: randomKeyFile(join(folder, 'events-key')),
    SIGNING_KEY_FILE: person,
    ADMINISTRATOR_KEY: verifierKeyText(keyIn(person)),
  }
  const lines = Object.entries(environment).map(([name, value]) => `${name}="${value}"\n`)
  writeFileSync(join(folder, environmentFile), lines.join(''), { mode: 0o600 })
  return environment
}

/** Made at the first start, so that checkpoints and decisions are signed from the beginning. */
function keyFile(path: string, name: string): string {
  if (!existsSync(path)) writeFileSync(path, `${makeSigningKey(name, 'log').text}\n`, { mode: 0o600 })
  return path
}

/** Kept, because what is in the database is encrypted with it. */
function randomKeyFile(path: string): string {
  if (!existsSync(path)) writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  return path
}

function keyIn(path: string): NoteSigner {
  const signer = readSigningKey(readFileSync(path, 'utf8').trim())
  if (signer !== null) return signer
  throw new Fault('settings_bad', {
    faults: [`${path} holds no key`],
    fix: 'restore it, or remove the folder',
  })
}

/** The user of this system decides with it: the first administrator. */
export function firstSigner(folder: string): NoteSigner {
  return keyIn(keyFile(join(folder, 'signing-key'), firstName()))
}

function firstName(): string {
  const { username } = userInfo()
  return personNameForm.test(username) ? username : 'administrator'
}

/** Null if no start wrote settings here. */
export function readSettings(folder: string): Record<string, string | undefined> | null {
  try {
    return parseEnv(readFileSync(join(folder, environmentFile), 'utf8'))
  } catch {
    return null
  }
}

function toEntry({ name, family, chainId, assets }: NetworkSettings) {
  const listed = assets.map(({ key, symbol, decimals }) => ({ symbol, contract: assetCode(key), decimals }))
  return { name, family, chainId, startHeight: 0, assets: listed }
}
