import type { Asset, AssetKey, AssetLabel, Family } from '../core/asset.ts'
import { Fault, isFault } from '../core/errors.ts'
import { readDecimals as readOnEvm } from './evm/identity.ts'
import { openNode as openEvmNode } from './evm/node.ts'
import { mapBounded } from './map-bounded.ts'
import { connections, defaultBounds, type NodeConnection, type ReaderOptions } from './options.ts'
import { createReader } from './reader.ts'
import { readDecimals as readOnSolana } from './solana/accounts.ts'
import { openNode as openSolanaNode } from './solana/node.ts'
import type { NetworkSettings } from './types.ts'

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
  await createReader({ ...settings, assets: [] }, options).checkIdentity()
  const { requestsAtOnce } = { ...defaultBounds, ...options.bounds }
  const readings = connections(settings, options).map((connection) => {
    const ask = readersOf[settings.family](connection)
    return mapBounded(labels, requestsAtOnce, ({ key }) => ask(key))
  })
  const answers = answersOf(await Promise.allSettled(readings))
  const assets = labels.map((label, index) =>
    assetWith(label, new Set(answers.map((answer) => answer[index]))),
  )
  const faults = assets.filter((one) => typeof one === 'string')
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
  return assets.filter((one) => typeof one !== 'string')
}

type NodeDecimals = readonly (number | null)[]

const readersOf: Record<Family, (connection: NodeConnection) => (key: AssetKey) => Promise<number | null>> = {
  evm: (connection) => {
    const node = openEvmNode(connection)
    return (key) => readOnEvm(node, key)
  },
  solana: (connection) => {
    const node = openSolanaNode(connection)
    return (key) => readOnSolana(node, key)
  },
}

function answersOf(outcomes: readonly PromiseSettledResult<NodeDecimals>[]): NodeDecimals[] {
  const failures = outcomes.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []))
  const unforeseen = failures.find((failure) => !isFault(failure, 'remote_failed'))
  if (unforeseen !== undefined) throw unforeseen
  if (failures.length === outcomes.length) throw failures[0]
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
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
