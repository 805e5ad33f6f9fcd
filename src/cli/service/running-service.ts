import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedFolder, isSet, readFrom } from '../../config/environment.ts'
import { Fault } from '../../core/errors.ts'
import { identifyProcess } from '../../sandbox/processes.ts'
import { readServicePlace, type ServicePlace, serviceKeyFile } from '../../sandbox/service-files.ts'
import { openServiceDatabase } from '../../service/service-database.ts'
import type { ServiceDatabase } from '../../service/tables.ts'
import { type Context } from '../context.ts'
import { wrongUse } from '../options.ts'

/**
 * The service on local chains in this folder.
 * @throws Fault `remote_failed` if none runs
 */
export function runningPlace(): ServicePlace {
  const place = readServicePlace(embeddedFolder)
  if (place !== null && identifyProcess(place.pid) !== null) return place
  throw new Fault('remote_failed', {
    what: 'reaching the deposit service of this folder',
    problem: 'it does not run; start it with "bin/depositd service"',
  })
}

/** The database of the settings, otherwise that of the service in this folder. */
export async function withServiceDatabase<Result>(
  { environment }: Context,
  work: (db: ServiceDatabase) => Promise<Result>,
): Promise<Result> {
  const url = isSet(environment, 'SERVICE_DATABASE_URL')
    ? readFrom(environment, (reader) => reader.url('SERVICE_DATABASE_URL', ['postgres', 'postgresql']))
    : runningPlace().databaseUrl
  await using db = await openServiceDatabase({ url, poolMax: 2, applicationName: 'depositd service keys' })
  return await work(db)
}

type DepositAddressEntry = { network: string; address: string }

/**
 * Null if neither a channel nor a StableWallet has the id.
 * @throws Fault `usage_bad` if both do
 */
export async function depositAddress(
  place: ServicePlace,
  network: string,
  id: string,
): Promise<string | null> {
  const paths = [`/v1/channels/${encodeURIComponent(id)}`, `/v1/stable-wallets/${encodeURIComponent(id)}`]
  const entries = await Promise.all(paths.map((path) => entriesAt(place.url + path)))
  const found = entries.filter((one) => one !== null)
  if (found.length > 1) {
    const problem = `--to is both a channel and a StableWallet: ${JSON.stringify(id)}`
    throw wrongUse(problem, 'use the deposit address instead')
  }
  return found[0]?.find((entry) => entry.network === network)?.address ?? null
}

async function entriesAt(url: string): Promise<readonly DepositAddressEntry[] | null> {
  const key = readFileSync(join(embeddedFolder, serviceKeyFile.read), 'utf8').trim()
  // A redirect could carry the key to another host.
  const response = await fetch(url, { headers: { 'X-API-KEY': key }, redirect: 'error' })
  if (!response.ok) return null
  const body = (await response.json()) as {
    addresses?: DepositAddressEntry[]
    stable_wallet?: { deposit_addresses: DepositAddressEntry[] }
  }
  return body.addresses ?? body.stable_wallet?.deposit_addresses ?? null
}
