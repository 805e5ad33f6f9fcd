import { basename } from 'node:path'
import type { Settings } from '../config/settings.ts'
import type { ConsoleNetwork, ConsoleSettings } from '../ops/console/reader.ts'
import type { Database } from '../store/database.ts'
import { listRuleSets, waitingRules } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'

const ruleSetsMax = 20

/** Without secrets. */
export async function readSettings(db: Database<Tables>, settings: Settings): Promise<ConsoleSettings> {
  const rules = await listRuleSets(db, ruleSetsMax)
  return { rules, isWaiting: (await waitingRules(db)) !== null, ...shownSettings(settings) }
}

function shownSettings(settings: Settings): Omit<ConsoleSettings, 'rules' | 'isWaiting'> {
  const { services, secondPersonAbove, addressBook, schedule } = settings
  const limits = [...secondPersonAbove].map(([asset, amount]) => `${asset}: ${amount}`)
  return {
    services: services.map(({ name, url, profilePath, webhooks, isPaused }) => ({
      name,
      host: new URL(url).host,
      profile: basename(profilePath),
      signing: webhooks.signing.scheme,
      isPaused,
    })),
    others: [
      { name: 'cases.secondPersonAbove', lines: limits.length === 0 ? ['none: always two people'] : limits },
      { name: 'addressBook.secondPerson', lines: [`${addressBook.secondPerson}`] },
      ...Object.entries(schedule).map(([name, cron]) => ({ name: `schedule.${name}`, lines: [cron] })),
    ],
  }
}

export function networkSettingsOf({
  name,
  family,
  chainId,
  genesisHash,
  assets,
  rpcUrls,
}: Settings['networks'][number]): ConsoleNetwork {
  const symbols = assets.map(({ symbol }) => symbol)
  return { name, chain: `${family} ${chainId ?? genesisHash ?? ''}`, assets: symbols, nodes: rpcUrls.length }
}
