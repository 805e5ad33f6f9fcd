import {
  type Address,
  type Asset,
  type NetworkName,
  parseAddress,
  parseTxId,
  type TxId,
} from '../../core/asset.ts'
import { messageOf } from '../../core/errors.ts'
import {
  type Claim,
  type ClaimStatus,
  type Owner,
  type ServiceId,
  stableWalletNetwork,
} from '../../core/evidence.ts'
import { compileAmount, compileWordField } from './compile-value.ts'
import type { AssetField, TextField } from './field-schema.ts'
import {
  compileField,
  compilePath,
  compileRequired,
  type FieldReading,
  type RecordContext,
  refuse,
  Unreadable,
  wordOf,
} from './find-field.ts'
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

export type RecordClaim = Omit<Claim, 'kind' | 'source' | 'receivedAt' | 'occurredAt' | 'isUndated'>

type RecordProfile = Profile['record']

/** The reader returns null for a record that the profile ignores. */
export function compileRecord(
  record: RecordProfile,
  context: LegContext,
): (place: RecordContext) => RecordClaim | null {
  const { prefix } = context
  const isWanted = compileConditions(record.only)
  const findId = compileRequired(record.id, prefix)
  const readOwner = compileOwner(record.owner, prefix)
  const readStatus = compileWordField(record.status, { prefix, unknown: unknownStatus })
  const readDeposit = compileDeposit(record.deposit, context)
  const readSettlement = compileSettlement(record.settlement, context)
  const readRefund = compileRefund(record.refund, context)
  return (place) => {
    if (!isWanted(place)) return null
    const status: ClaimStatus | 'ignored' = readStatus(place)
    if (status === 'ignored') return null
    const deposit = readDeposit(place)
    return {
      serviceId: findId(place).text as ServiceId,
      owner: readOwner(place),
      status,
      deposit,
      settlement: readSettlement(place),
      ...readRefund(place, deposit),
    }
  }
}

function compileConditions(only: RecordProfile['only']): (place: RecordContext) => boolean {
  const conditions = Object.entries(only).map(([path, words]) => ({
    look: compilePath(path),
    words: new Set(words),
  }))
  return ({ record, payload }) =>
    conditions.every(({ look, words }) => words.has(wordOf(look(record, payload)) ?? ''))
}

function compileOwner(owner: RecordProfile['owner'], prefix: string): (place: RecordContext) => Owner | null {
  if (owner === undefined) return () => null
  const readKind = compileWordField(owner.kind, { prefix, unknown: unknownOwner })
  const findId = compileRequired(owner.id, prefix)
  return (place) => ({ kind: readKind(place), id: findId(place).text })
}

function unknownOwner({ text, path }: FieldReading): never {
  return refuse(path, `unknown kind of owner ${text}`)
}

function unknownStatus({ text, path }: FieldReading): never {
  throw new Unreadable(path, `unknown status ${text}`, 'unknown_status')
}

const isNoPlaceToPay = `${stableWalletNetwork} is where wallets are credited, and no network of payments`

function compileDeposit(deposit: RecordProfile['deposit'], context: LegContext) {
  const { prefix } = context
  const readLeg = compileLeg(deposit, context)
  const readAmount = compileAmount(deposit.amount, prefix)
  const findIndex = deposit.index ? compileField(deposit.index, prefix) : () => null
  const networkPath = (deposit.network ?? deposit.asset).paths[0] ?? prefix
  const missing = (path: string | undefined) => refuse(path ?? prefix, 'is missing')
  return (place: RecordContext): Claim['deposit'] => {
    const { asset, ...leg } = readLeg(place) ?? missing(deposit.address.paths[0])
    if (leg.network === stableWalletNetwork) refuse(networkPath, isNoPlaceToPay)
    return {
      ...leg,
      asset: asset.key,
      amount: readAmount(place, asset.decimals) ?? missing(deposit.amount.paths[0]),
      index: findIndex(place)?.text ?? null,
    }
  }
}

function compileSettlement(settlement: RecordProfile['settlement'], context: LegContext) {
  if (settlement === undefined) return () => null
  const { prefix } = context
  const readLeg = compileLeg(settlement, context)
  const readAmount = compileAmount(settlement.amount, prefix)
  const readFee = compileAmount(settlement.fee, prefix)
  return (place: RecordContext): Claim['settlement'] => {
    const found = readLeg(place)
    if (found === null) return null
    const { asset, ...leg } = found
    const { decimals } = asset
    return { ...leg, asset: asset.key, amount: readAmount(place, decimals), fee: readFee(place, decimals) }
  }
}

/** A refund is claimed only if a transaction is named. */
function compileRefund(refund: RecordProfile['refund'], { prefix, vocabulary }: LegContext) {
  const readTx = compileTransaction(refund?.transaction, prefix)
  const known = knownNetworks(vocabulary)
  return (place: RecordContext, { network }: Claim['deposit']): Pick<Claim, 'refund'> => {
    const of = known.get(network)
    const tx = of === undefined ? null : readTx(place, of)
    return tx === null ? {} : { refund: { tx } }
  }
}

/** In canonical spelling. */
type LegLocation = { network: NetworkName; address: Address; asset: Asset; tx: TxId | null }

type LegFields = {
  network?: TextField | undefined
  asset: AssetField
  address: TextField
  transaction?: TextField | undefined
}

type LegContext = {
  profile: Pick<Profile, 'networks' | 'assets'>
  vocabulary: Vocabulary
  prefix: string
}

/** The reader returns null if the address is absent and may be. */
function compileLeg(fields: LegFields, context: LegContext): (place: RecordContext) => LegLocation | null {
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

/** In the form of the network; null if the id is absent and may be. */
function compileTransaction(field: TextField | undefined, prefix: string) {
  const find = field ? compileField(field, prefix) : () => null
  return (place: RecordContext, { family }: Pick<NetworkAssets, 'family'>): TxId | null => {
    const found = find(place)
    return found && spell(found, (text) => parseTxId(family, text))
  }
}

function creditTo({ text }: FieldReading, { creditAsset }: Vocabulary): LegLocation {
  return { network: stableWalletNetwork, address: text as Address, asset: creditAsset, tx: null }
}

/** Without the field, the asset's name determines the network. */
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
