import { z } from 'zod'
import {
  type Address,
  type Asset,
  type AssetLabel,
  assetKey,
  type Family,
  type NetworkName,
  nativeDecimals,
  parseAddress,
} from '../core/asset.ts'
import { knownNetworks, type NetworkEntry } from './known-networks.ts'
import { checkReading, readingFields } from './reading-schema.ts'

export const symbol = z.string().min(1).max(20)
export const decimals = z.int().min(0).max(38)

/**
 * A network in the settings files of the daemon and of the deposit service, so that one text serves both. The service
 * uses neither `startHeight` nor the fields for reading.
 */
const networkSchema = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9_]{0,30}$/, 'is no network name: lower-case letters, digits and _'),
    family: z.enum(['evm', 'solana']),
    chainId: z.int().positive().nullable().default(null),
    ...readingFields,
    /** Omitted decimals are read from the chain. */
    assets: z.array(z.strictObject({ symbol, contract: z.string(), decimals: decimals.optional() })).min(1),
    /** Block or slot at which the first scan begins. Default: the height that is final then. */
    startHeight: z.int().min(0).optional(),
  })
  .superRefine(checkNetwork)
  .superRefine(checkReading)

/** At least one network, each listed once. Default: the known networks. */
export const networkList = z
  .array(networkSchema)
  .min(1, 'is empty: no chain could be read')
  .superRefine((value, context) => {
    for (const [place, { name }] of value.entries()) {
      if (value.findIndex((one) => one.name === name) === place) continue
      context.addIssue({ code: 'custom', path: [place, 'name'], message: `${name} is described twice` })
    }
  })
  .prefault(() => structuredClone(knownNetworks) as z.input<typeof networkSchema>[])

type NetworkIssueSink = {
  addIssue(issue: { code: 'custom'; path: (string | number)[]; message: string }): void
}

/** Checks the fields of one network against each other. */
function checkNetwork(value: NetworkEntry, context: NetworkIssueSink): void {
  if (value.family === 'evm' && value.chainId === null) {
    context.addIssue({
      code: 'custom',
      path: ['chainId'],
      message: 'is missing: an EVM network is known by it',
    })
  }
  const codes = value.assets.map(({ contract }) =>
    contract === 'native' ? contract : addressOf(value.family, contract),
  )
  for (const [place, code] of codes.entries()) {
    if (code !== null && codes.indexOf(code) === place) continue
    const message = code === null ? 'is neither "native" nor an address of this family' : 'is described twice'
    context.addIssue({ code: 'custom', path: ['assets', place, 'contract'], message })
  }
}

export function addressOf(family: Family, text: string): Address | null {
  try {
    return parseAddress(family, text)
  } catch {
    return null
  }
}

/** Assets with decimals from the entry, or from their family. */
export function assetsOf(entry: NetworkEntry): Asset[] {
  return described(entry).flatMap(({ digits, ...label }) =>
    digits === undefined ? [] : [{ ...label, decimals: digits }],
  )
}

/** Assets whose decimals are read from the chain. */
export function unpinnedOf(entry: NetworkEntry): AssetLabel[] {
  return described(entry).flatMap(({ digits, ...label }) => (digits === undefined ? [label] : []))
}

/** Skips an invalid contract, which has a fault of its own. */
function described({ name, family, assets }: NetworkEntry): (AssetLabel & { digits: number | undefined })[] {
  const network = name as NetworkName
  return assets.flatMap(({ contract, symbol: label, decimals: stated }) => {
    const isNative = contract === 'native'
    const code = isNative ? contract : addressOf(family, contract)
    const digits = stated ?? (isNative ? nativeDecimals[family] : undefined)
    return code === null ? [] : [{ key: assetKey(network, code), network, symbol: label, digits }]
  })
}

/** Name of the setting that lists the nodes of a network. */
export function rpcName(network: string): string {
  return `RPC_${network.toUpperCase()}`
}
