import { z } from 'zod'
import {
  type Address,
  type Asset,
  type AssetLabel,
  assetKey,
  type Family,
  type NetworkName,
  type NetworkReading,
  type NetworkSettings,
  nativeDecimals,
  parseAddress,
} from '../core/asset.ts'
import type { EnvironmentReader } from './environment.ts'
import { knownNetworks, type NetworkEntry } from './known-networks.ts'
import { type Refuse, refuseIn } from './yaml-file.ts'

const readingFields = {
  quorum: z.int().min(1).max(10).default(1),
  finality: z
    .strictObject({
      tag: z.enum(['finalized', 'safe']).optional(),
      depth: z.int().min(1).max(100_000).optional(),
      bookOnDepth: z.boolean().optional(),
    })
    .prefault({ tag: 'finalized' }),
  traces: z.enum(['always', 'on_difference', 'never']).default('on_difference'),
  /** Identifies a Solana cluster, as the chain id an EVM network. */
  genesisHash: z
    .string()
    .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a hash in base58')
    .optional(),
}

type ReadingEntry = z.output<z.ZodObject<typeof readingFields>> & { family: Family }

function checkReading(entry: ReadingEntry, refuse: Refuse): void {
  if (entry.family === 'evm' && entry.genesisHash !== undefined) {
    refuse(['genesisHash'], 'is for Solana; an EVM network is identified by its chainId')
  }
  const { tag, depth, bookOnDepth } = entry.finality
  if ((tag === undefined) === (depth === undefined)) {
    refuse(['finality'], 'needs either a tag or a depth')
  } else if (tag !== undefined && bookOnDepth !== undefined) {
    refuse(['finality', 'bookOnDepth'], 'needs a depth, not a tag')
  } else if (depth !== undefined && bookOnDepth !== true) {
    refuse(
      ['finality', 'depth'],
      'needs bookOnDepth: true beside it: a chain can replace any number of blocks, so a booked payment may be reversed',
    )
  }
  if (entry.family === 'solana' && tag !== 'finalized') {
    refuse(['finality'], 'must be { tag: finalized } on Solana')
  }
}

function readingOf({ quorum, finality, traces }: ReadingEntry): NetworkReading {
  const { tag = 'finalized', depth } = finality
  return {
    quorum,
    finality: depth === undefined ? { kind: 'tag', tag } : { kind: 'depth', blocks: depth },
    traces,
  }
}

export const symbol = z.string().min(1).max(20)
export const decimals = z.int().min(0).max(38)

/** For the daemon and the deposit service, which uses neither `startHeight` nor the fields for reading. */
const networkSchema = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9_]{0,30}$/, 'must be lower-case letters, digits and _'),
    family: z.enum(['evm', 'solana']),
    chainId: z.int().positive().nullable().default(null),
    ...readingFields,
    /** Omitted decimals are read from the chain. */
    assets: z.array(z.strictObject({ symbol, contract: z.string(), decimals: decimals.optional() })).min(1),
    /** Block or slot. Default: the height that is final at the first scan. */
    startHeight: z.int().min(0).optional(),
    explorer: z
      .string()
      .regex(/^https:\/\/[^\s"'<>]*\{tx\}[^\s"'<>]*$/, 'must be an https address with {tx}')
      .optional(),
  })
  .superRefine((entry, context) => {
    checkNetwork(entry, refuseIn(context))
    checkReading(entry, refuseIn(context))
  })

/** Default: the known networks. */
export const networkList = z
  .array(networkSchema)
  .min(1)
  .superRefine((value, context) => {
    for (const [place, { name }] of value.entries()) {
      if (value.findIndex((one) => one.name === name) === place) continue
      refuseIn(context)([place, 'name'], `${name} is described twice`)
    }
  })
  .prefault(() => structuredClone(knownNetworks) as z.input<typeof networkSchema>[])

function checkNetwork({ family, chainId, assets }: NetworkEntry, refuse: Refuse): void {
  if (family === 'evm' && chainId === null) refuse(['chainId'], 'is missing: it identifies an EVM network')
  const codes = assets.map(({ contract }) => (contract === 'native' ? contract : addressOf(family, contract)))
  for (const [place, code] of codes.entries()) {
    const path = ['assets', place, 'contract']
    if (code === null) refuse(path, 'must be "native" or an address of this family')
    else if (codes.indexOf(code) !== place) refuse(path, 'is described twice')
  }
}

export function addressOf(family: Family, text: string): Address | null {
  try {
    return parseAddress(family, text)
  } catch {
    return null
  }
}

export function assetsOf(entry: NetworkEntry): Asset[] {
  return described(entry).flatMap(({ digits, ...label }) =>
    digits === undefined ? [] : [{ ...label, decimals: digits }],
  )
}

export function unpinnedOf(entry: NetworkEntry): AssetLabel[] {
  return described(entry).flatMap(({ digits, ...label }) => (digits === undefined ? [label] : []))
}

/** An invalid contract has a fault of its own. */
function described({ name, family, assets }: NetworkEntry): (AssetLabel & { digits: number | undefined })[] {
  const network = name as NetworkName
  return assets.flatMap(({ contract, symbol: label, decimals: stated }) => {
    const isNative = contract === 'native'
    const code = isNative ? contract : addressOf(family, contract)
    const digits = stated ?? (isNative ? nativeDecimals[family] : undefined)
    return code === null ? [] : [{ key: assetKey(network, code), network, symbol: label, digits }]
  })
}

export const httpSchemes = ['http', 'https']

/** In order. Without an RPC URL, a network is not read. */
export function readNetworks(
  entries: readonly z.output<typeof networkSchema>[],
  reader: EnvironmentReader,
): NetworkSettings[] {
  const networks = entries.map((entry): NetworkSettings => {
    const { name, family, chainId, genesisHash, explorer } = entry
    return {
      name: name as NetworkName,
      family,
      chainId,
      genesisHash,
      rpcUrls: reader.urls(rpcName(name), httpSchemes),
      assets: assetsOf(entry),
      unpinned: unpinnedOf(entry),
      reading: readingOf(entry),
      explorer,
    }
  })
  if (networks.every(({ rpcUrls }) => rpcUrls.length === 0)) {
    const names = networks.map(({ name }) => rpcName(name)).join(', ')
    reader.faults.push(`none of ${names} is set: no chain could be read`)
  }
  return networks
}

export function rpcName(network: string): string {
  return `RPC_${network.toUpperCase()}`
}
