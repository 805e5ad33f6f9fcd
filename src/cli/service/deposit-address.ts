import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../core/errors.ts'
import { type ServicePlace, serviceKeyFile } from '../../sandbox/service-files.ts'
import { embeddedFolder } from '../context.ts'

type DepositAddressEntry = { network: string; address: string }

/**
 * Asks the running service for the deposit address of a channel or a StableWallet on that network. Null if neither
 * exists.
 * @throws Fault `usage_bad` if both exist
 */
export async function depositAddress(
  place: ServicePlace,
  network: string,
  id: string,
): Promise<string | null> {
  const paths = [`/v1/channels/${encodeURIComponent(id)}`, `/v1/stable-wallets/${encodeURIComponent(id)}`]
  const found = (await Promise.all(paths.map((path) => entriesAt(place.url + path)))).filter(
    (one) => one !== null,
  )
  if (found.length > 1) {
    const problem = `--to means a channel and a StableWallet: ${JSON.stringify(id)}`
    throw new Fault('usage_bad', { problem, fix: 'give the deposit address of the one that is meant' })
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
