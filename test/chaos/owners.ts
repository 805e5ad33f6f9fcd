import { readFileSync } from 'node:fs'
import { privateKeyToAddress } from 'viem/accounts'
import { loadServiceProfile } from '../../src/app/service-profile.ts'
import { parseSettings } from '../../src/config/settings.ts'
import type { OwnerEntry } from '../../src/core/address-book.ts'
import { createChannel, createStableWallet } from '../../src/jobs/provision.ts'
import { connectOwners } from '../../src/provider/owners-client.ts'
import { demoOwners } from '../../src/sandbox/demo.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'

/** Who is paid: a channel that forwards to each network, and a StableWallet. The database must be migrated. */
export async function createOwners(
  environment: Readonly<Record<string, string>>,
  networks: readonly string[],
): Promise<OwnerEntry[]> {
  const settings = parseSettings(environment, (path) => readFileSync(path, 'utf8'))
  const db = openDatabase<Tables>({ url: settings.databaseUrl, poolMax: 4, applicationName: 'chaos' })
  const [service] = settings.services
  const owners = connectOwners(service, loadServiceProfile(settings, service))
  const deps = { db, networks: settings.networks, owners }
  try {
    const { channels, wallet } = await demoOwners()
    const wanted = [...channels, desk].filter(({ forwardNetwork }) => networks.includes(forwardNetwork))
    return [
      ...(await Promise.all(wanted.map((channel) => createChannel(deps, channel)))),
      await createStableWallet(deps, wallet),
    ]
  } finally {
    await db.destroy()
  }
}

const desk = {
  id: 'desk',
  forwardNetwork: 'arbitrum',
  forwardAsset: 'USDC',
  forwardRecipient: privateKeyToAddress(`0x${'de5c'.repeat(16)}`),
}
