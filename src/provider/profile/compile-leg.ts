import {
  type Address,
  type Asset,
  type NetworkName,
  parseAddress,
  parseTxId,
  type TxId,
} from '../../core/asset.ts'
import { messageOf } from '../../core/errors.ts'
import { stableWalletNetwork } from '../../core/evidence.ts'
import type { AssetField, TextField } from './field-schema.ts'
import { compileField, compileRequired, type FieldReading, type RecordContext, refuse } from './find-field.ts'
import {
  type AssetLookup,
  assetByContract,
  assetByName,
  assetBySymbol,
  knownNetworks,
  type NetworkAssets,
  parseAssetName,
  type Vocabulary,
} from './known-assets.ts'
import type { Profile } from './profile-schema.ts'

/** Where one leg of a deposit was, in the spelling used for comparing. */
export type LegLocation = { network: NetworkName; address: Address; asset: Asset; tx: TxId | null }

type LegFields = {
  network?: TextField | undefined
  asset: AssetField
  address: TextField
  transaction?: TextField | undefined
}

export type LegContext = {
  profile: Pick<Profile, 'networks' | 'assets'>
  vocabulary: Vocabulary
  prefix: string
}

/** Makes what reads one leg; null where its address is absent and may be. */
export function compileLeg(
  fields: LegFields,
  context: LegContext,
): (place: RecordContext) => LegLocation | null {
  const findAddress = compileField(fields.address, context.prefix)
  const readTx = compileTransaction(fields.transaction, context.prefix)
  const readAsset = compileAsset(fields.asset, context)
  const readNetwork = compileNetwork(fields, context)
  const known = knownNetworks(context.vocabulary)
  return (place) => {
    const address = findAddress(place)
    if (address === null) return null
    const { name, path } = readNetwork(place)
    if (name === stableWalletNetwork) return creditTo(address, context.vocabulary)
    const network = known.get(name) ?? refuse(path, `unknown network ${name}`)
    return {
      network: network.name,
      address: spell(address, (text) => parseAddress(network.family, text)),
      asset: readAsset(place, network),
      tx: readTx(place, network),
    }
  }
}

/** Makes what reads a transaction in the form of its network; null where it is absent and may be. */
export function compileTransaction(field: TextField | undefined, prefix: string) {
  const find = field ? compileField(field, prefix) : () => null
  return (place: RecordContext, { family }: Pick<NetworkAssets, 'family'>): TxId | null => {
    const found = find(place)
    return found && spell(found, (text) => parseTxId(family, text))
  }
}

function creditTo({ text }: FieldReading, { creditAsset }: Vocabulary): LegLocation {
  return { network: stableWalletNetwork, address: text as Address, asset: creditAsset, tx: null }
}

/** The network by its field; without that field, by the asset, whose name then says on which network it is. */
function compileNetwork(
  { network: field, asset }: LegFields,
  { profile, prefix }: LegContext,
): (place: RecordContext) => { name: string; path: string } {
  const find = compileRequired(field ?? asset, prefix)
  const words = new Map(Object.entries(profile.networks))
  const assets = new Map(Object.entries(profile.assets))
  return (place) => {
    const { text, path, isOurs } = find(place)
    if (field !== undefined) return { name: isOurs ? text : (words.get(text) ?? text), path }
    const { network } = parseAssetName(isOurs ? text : (assets.get(text) ?? ''))
    return { name: network ?? refuse(path, `unknown asset ${text}`), path }
  }
}

function compileAsset(
  field: AssetField,
  { profile, prefix }: LegContext,
): (place: RecordContext, network: NetworkAssets) => Asset {
  const find = compileRequired(field, prefix)
  const words = new Map(Object.entries(profile.assets))
  const lookUp = field.as === 'symbol' ? assetBySymbol : assetByContract
  return (place, network) => {
    const found = find(place)
    const listed = found.isOurs ? found.text : words.get(found.text)
    const result = spell(found, (text): AssetLookup => {
      if (listed === undefined) return lookUp(network, text)
      const wanted = parseAssetName(listed)
      return wanted.network !== null && wanted.network !== network.name
        ? { problem: `${text} is ${listed}, and the network is ${network.name}` }
        : assetByName(network, wanted.name)
    })
    return 'asset' in result ? result.asset : refuse(found.path, result.problem)
  }
}

function spell<Value>({ text, path }: FieldReading, read: (text: string) => Value): Value {
  try {
    return read(text)
  } catch (error) {
    return refuse(path, messageOf(error))
  }
}
