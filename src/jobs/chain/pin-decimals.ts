import type { Kysely } from 'kysely'
import type { Asset, AssetLabel, NetworkSettings } from '../../core/asset.ts'
import { Fault, isFault } from '../../core/errors.ts'
import { pinAssets, pinnedNetworks } from '../../store/assets.ts'
import type { Tables } from '../../store/tables.ts'

export type DecimalsReader = (
  network: NetworkSettings,
  labels: readonly AssetLabel[],
) => Promise<readonly Asset[]>

/**
 * From the settings, else from the pinned values, else from the chain.
 * @throws Fault `settings_bad` if these contradict each other or cannot be determined; `remote_failed` if no node
 * answers
 */
export async function pinDecimals(
  db: Kysely<Tables>,
  networks: readonly NetworkSettings[],
  read: DecimalsReader,
): Promise<NetworkSettings[]> {
  const pinned = await pinnedNetworks(db, networks)
  const complete = await Promise.all(pinned.map((network) => learnDecimals(network, read)))
  await pinAssets(
    db,
    complete.flatMap(({ assets }) => assets),
  )
  return complete
}

/** @throws Fault as `pinDecimals` does */
export async function learnDecimals(
  network: NetworkSettings,
  read: DecimalsReader,
): Promise<NetworkSettings> {
  const { name, rpcUrls, assets, unpinned = [] } = network
  if (unpinned.length === 0) return network
  const symbols = unpinned.map(({ symbol }) => symbol).join(', ')
  const what = `the decimals of ${symbols} on ${name}, which the settings do not state`
  if (rpcUrls.length === 0) {
    const fault = `${what}, cannot be read: set RPC_${name.toUpperCase()}, or set the decimals in networks`
    throw new Fault('settings_bad', { faults: [fault] })
  }
  try {
    return { ...network, assets: [...assets, ...(await read(network, unpinned))], unpinned: [] }
  } catch (error) {
    if (!isFault(error, 'remote_failed')) throw error
    const problem = `${error.details.what}: ${error.details.problem}`
    throw new Fault('remote_failed', { what, problem }, { cause: error })
  }
}
