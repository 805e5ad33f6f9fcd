import { z } from 'zod'
import {
  type Address,
  type Asset,
  type AssetLabel,
  assetKey,
  type Family,
  type NetworkName,
  type NetworkReading,
  nativeDecimals,
  parseAddress,
} from '../core/asset.ts'
import { knownNetworks, type NetworkEntry } from './known-networks.ts'

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
    .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'is no hash in base58')
    .optional(),
}

type ReadingEntry = z.output<z.ZodObject<typeof readingFields>> & { family: Family }
type ReadingIssueSink = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void }

function checkReading(entry: ReadingEntry, context: ReadingIssueSink): void {
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
  if (entry.family === 'evm' && entry.genesisHash !== undefined) {
    refuse(['genesisHash'], 'is of Solana; an EVM network is known by its chainId')
  }
  const { tag, depth, bookOnDepth } = entry.finality
  if ((tag === undefined) === (depth === undefined)) {
    refuse(['finality'], 'names either a tag or a depth')
  } else if (tag !== undefined && bookOnDepth !== undefined) {
    refuse(['finality', 'bookOnDepth'], 'goes with a depth only')
  } else if (depth !== undefined && bookOnDepth !== true) {
    refuse(
      ['finality', 'depth'],
      'proves nothing by itself, for a chain can replace more blocks than any number; set bookOnDepth: true beside it if what lies that deep is to be booked all the same',
    )
  }
  if (entry.family === 'solana' && tag !== 'finalized') {
    refuse(['finality'], 'on Solana is the finalized commitment, and nothing else')
  }
}

export function readingOf({ quorum, finality, traces }: ReadingEntry): NetworkReading {
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
    name: z.string().regex(/^[a-z][a-z0-9_]{0,30}$/, 'is no network name: lower-case letters, digits and _'),
    family: z.enum(['evm', 'solana']),
    chainId: z.int().positive().nullable().default(null),
    ...readingFields,
    /** Omitted decimals are read from the chain. */
    assets: z.array(z.strictObject({ symbol, contract: z.string(), decimals: decimals.optional() })).min(1),
    /** Block or slot. Default: the height that is final at the first scan. */
    startHeight: z.int().min(0).optional(),
  })
  .superRefine(checkNetwork)
  .superRefine(checkReading)

/** Default: the known networks. */
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

export function rpcName(network: string): string {
  return `RPC_${network.toUpperCase()}`
}
