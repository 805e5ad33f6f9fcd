import type { Asset, AssetLabel, Family } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { createEvmReader } from './evm/reader.ts'
import type { ReaderOptions } from './options.ts'
import { createSolanaReader } from './solana/reader.ts'
import type { FullChainReader, NetworkSettings } from './types.ts'

/** @throws Fault `settings_bad` if the settings are not sufficient for reading */
export function createReader(settings: NetworkSettings, options: ReaderOptions = {}): FullChainReader {
  return readers[settings.family](settings, options)
}

const readers: Record<Family, typeof createReader> = { evm: createEvmReader, solana: createSolanaReader }

const decimalsMax = 38

/**
 * Asks every node that answers: the nodes must agree, because the decimals are stored permanently.
 * @throws Fault `settings_bad` that lists every asset whose decimals cannot be determined; `remote_failed` if no node
 * answers
 */
export async function readDecimals(
  settings: NetworkSettings,
  labels: readonly AssetLabel[],
  options: ReaderOptions = {},
): Promise<Asset[]> {
  const reader = createReader({ ...settings, assets: [] }, options)
  await reader.checkIdentity()
  const answers = await reader.readDecimals(labels.map(({ key }) => key))
  const assets = labels.map((label, index) =>
    assetWith(label, new Set(answers.map((answer) => answer[index]))),
  )
  const faults = assets.filter((one) => typeof one === 'string')
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
  return assets.filter((one) => typeof one !== 'string')
}

function assetWith(label: AssetLabel, reported: ReadonlySet<number | null | undefined>): Asset | string {
  const name = `asset ${label.symbol} (${label.key})`
  const [decimals, other] = reported
  if (other !== undefined)
    return `${name}: the nodes report different decimals: ${[...reported].map((value) => value ?? 'none').join(', ')}`
  if (decimals === null || decimals === undefined) return `${name}: no token found there; check the address`
  if (decimals <= decimalsMax) return { ...label, decimals }
  return `${name}: has ${decimals} decimals; at most ${decimalsMax} are supported`
}
