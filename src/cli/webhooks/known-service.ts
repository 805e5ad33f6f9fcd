import { readFileSync } from 'node:fs'
import { assetsOf, unpinnedOf } from '../../config/network-schema.ts'
import { parseSettingsFile } from '../../config/settings-file.ts'
import { type Address, assetKey, type NetworkName } from '../../core/asset.ts'
import { Fault, messageOf } from '../../core/errors.ts'
import { stableWalletNetwork } from '../../core/evidence.ts'
import type { Hints } from '../../provider/infer/hints.ts'
import type { Vocabulary } from '../../provider/profile/known-assets.ts'
import { pinnedNetworks } from '../../store/assets.ts'
import { type AddressBookSets, knownPlaces } from '../../store/samples.ts'
import { attachedEnvironment, type Context, withDatabase } from '../context.ts'

export type ServiceHints = { hints: Hints; vocabulary: Vocabulary }

/**
 * Collects the facts about the service that are known before its payloads can be read: networks and assets of the
 * settings file, and the address book. It needs neither the address nor a key of the service.
 * @param isFromDatabase whether the payloads come from the database; if not, a database is used only if one is set
 */
export async function knownService(context: Context, isFromDatabase: boolean): Promise<ServiceHints> {
  const isAttached = isFromDatabase || isDatabaseSet(context)
  const environment = isAttached ? attachedEnvironment(context) : context.environment
  const vocabulary = readVocabulary(environment.DEPOSITD_CONFIG)
  if (!isAttached) return { hints: { ...vocabulary, ...nowhere() }, vocabulary }
  return withDatabase(context, async (db) => {
    const networks = await pinnedNetworks(db, vocabulary.networks)
    return { hints: { networks, ...(await knownPlaces(db)) }, vocabulary: { ...vocabulary, networks } }
  })
}

function nowhere(): AddressBookSets {
  return { depositAddresses: new Set(), recipients: new Set(), owners: new Map() }
}

function isDatabaseSet({ environment }: Context): boolean {
  return environment.DATABASE_URL !== undefined || environment.DATABASE_URL_FILE !== undefined
}

function readVocabulary(path: string | undefined): Vocabulary {
  const { file, faults } = parseSettingsFile(path === undefined ? '' : readFile(path))
  if (file === null)
    throw new Fault('settings_bad', { faults: faults.map((fault) => `DEPOSITD_CONFIG, ${fault}`) })
  const { credit } = file.service
  const network = stableWalletNetwork
  return {
    networks: file.networks.map((entry) => ({
      name: entry.name as NetworkName,
      family: entry.family,
      chainId: entry.chainId,
      rpcUrls: [],
      assets: assetsOf(entry),
      unpinned: unpinnedOf(entry),
    })),
    creditAsset: { key: assetKey(network, credit.symbol as Address), network, ...credit },
  }
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Fault('settings_bad', { faults: [`DEPOSITD_CONFIG cannot be read: ${messageOf(error)}`] })
  }
}
