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
 * Gives each asset its decimals, and pins them: those of the settings, else those that are pinned, else those that the
 * chain tells. Only a new asset needs its chain for that.
 * @throws Fault `settings_bad` where they contradict each other or cannot be told; `remote_failed` where no node answers
 */
export async function pinDecimals(
  db: Kysely<Tables>,
  networks: readonly NetworkSettings[],
  read: DecimalsReader,
): Promise<NetworkSettings[]> {
  const known = await pinnedNetworks(db, networks)
  const complete = await Promise.all(known.map((network) => learnDecimals(network, read)))
  await pinAssets(
    db,
    complete.flatMap(({ assets }) => assets),
  )
  return complete
}

/**
 * The network with the decimals of all its assets: what the settings leave out, the chain tells.
 * @throws Fault as `pinDecimals` does
 */
export async function learnDecimals(
  network: NetworkSettings,
  read: DecimalsReader,
): Promise<NetworkSettings> {
  const { name, rpcUrls, assets, unpinned = [] } = network
  if (unpinned.length === 0) return network
  const symbols = unpinned.map(({ symbol }) => symbol).join(', ')
  const what = `the decimals of ${symbols} on ${name}, which the settings leave to the chain`
  if (rpcUrls.length === 0) {
    const fault = `${what}, cannot be read: set RPC_${name.toUpperCase()}, or give them in networks`
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
