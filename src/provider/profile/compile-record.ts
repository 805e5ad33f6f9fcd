import {
  type Address,
  type Asset,
  type NetworkName,
  parseAddress,
  parseTxId,
  type TxId,
} from '../../core/asset.ts'
import {
  type Claim,
  type ClaimStatus,
  idAmongServices,
  type Owner,
  type ServiceId,
  type ServiceName,
  stableWalletNetwork,
} from '../../core/evidence.ts'
import { compilePayouts } from './compile-payouts.ts'
import { compileAmount, compileWordField } from './compile-value.ts'
import type { AssetField, TextField } from './field-schema.ts'
import {
  compileField,
  compilePath,
  compileRequired,
  type FieldReading,
  type RecordContext,
  refuse,
  refuseValue,
  shownPath,
  shownValue,
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
import type { Profile, SettlementProfile } from './profile-schema.ts'

export type RecordClaim = Omit<Claim, 'kind' | 'source' | 'receivedAt' | 'occurredAt' | 'isUndated'>

type RecordProfile = Profile['record']

/** `key` of the profile ignores the payload, by the value at `path`; null if there is none. */
export type IgnoredBy = { key: string; path: string; value: string | null }

export function compileRecord(
  record: RecordProfile,
  context: LegContext,
): (place: RecordContext) => RecordClaim | { ignoredBy: IgnoredBy } {
  const { prefix, service } = context
  const findUnwanted = compileConditions(record.only, prefix)
  const findStatus = compileRequired(record.status, prefix)
  const findId = compileRequired(record.id, prefix)
  const readOwner = compileOwner(record.owner, context)
  const readStatus = compileWordField(record.status, { prefix, unknown: unknownStatus })
  const readDeposit = compileDeposit(record.deposit, context)
  const readSettlement = compileSettlement(record.settlement, context)
  const readRefund = compileRefund(record.refund, context)
  return (place) => {
    const unwanted = findUnwanted(place)
    if (unwanted !== null) return { ignoredBy: unwanted }
    const status: ClaimStatus | 'ignored' = readStatus(place)
    if (status === 'ignored') return { ignoredBy: ignoredBy('record.status.words', findStatus(place)) }
    const deposit = readDeposit(place)
    return {
      serviceId: idAmongServices(service, findId(place).text) as ServiceId,
      owner: readOwner(place),
      status,
      deposit,
      settlement: readSettlement(place),
      ...readRefund(place, deposit),
    }
  }
}

export function ignoredBy(key: string, { path, text }: Omit<FieldReading, 'isOurs'>): IgnoredBy {
  return { key, path, value: shownValue({ path, text }) }
}

/** The reader returns the first condition that is not met. */
function compileConditions(
  only: RecordProfile['only'],
  prefix: string,
): (place: RecordContext) => IgnoredBy | null {
  const conditions = Object.entries(only).map(([path, words]) => ({
    path: shownPath(path, prefix),
    look: compilePath(path),
    words: new Set(words),
  }))
  return ({ record, payload }) => {
    for (const { path, look, words } of conditions) {
      const text = wordOf(look(record, payload))
      if (!words.has(text ?? ''))
        return text === null
          ? { key: 'record.only', path, value: null }
          : ignoredBy('record.only', { path, text })
    }
    return null
  }
}

function compileOwner(
  owner: RecordProfile['owner'],
  { prefix, service }: LegContext,
): (place: RecordContext) => Owner | null {
  if (owner === undefined) return () => null
  const readKind = compileWordField(owner.kind, { prefix, unknown: unknownOwner })
  const findId = compileRequired(owner.id, prefix)
  return (place) => ({ kind: readKind(place), id: idAmongServices(service, findId(place).text) })
}

function unknownOwner(found: FieldReading): never {
  return unknownWord(found, 'unknown kind of owner', 'add it to record.owner.kind.words')
}

export function unknownWord(found: FieldReading, problem: string, fix: string): never {
  return refuse(found.path, `${problem} ${shownValue(found)}`, { value: found.text, fix })
}

function unknownStatus(found: FieldReading): never {
  throw new Unreadable(found.path, `unknown status ${shownValue(found)}`, {
    value: found.text,
    fix: 'add it to record.status.words',
    kind: 'unknown_status',
  })
}

const isNoPlaceToPay = `${stableWalletNetwork} is where wallets are credited, and no network of payments`

export const networkFix = 'add it to networks of the profile, or to the networks of the settings'
export const assetFix = 'add it to assets of the profile, or to the assets of the network in the settings'

function compileDeposit(deposit: RecordProfile['deposit'], context: LegContext) {
  const { prefix } = context
  const readLeg = compileLeg(deposit, context)
  const readAmount = compileAmount(deposit.amount, prefix)
  const findIndex = deposit.index ? compileField(deposit.index, prefix) : () => null
  const networkPath = (deposit.network ?? deposit.asset).paths[0] ?? prefix
  const missing = (path = '') =>
    refuse(shownPath(path, prefix), 'is missing', { fix: 'correct the path, and set presence: required' })
  return (place: RecordContext): Claim['deposit'] => {
    const { asset, ...leg } = readLeg(place) ?? missing(deposit.address.paths[0])
    if (leg.network === stableWalletNetwork)
      refuse(networkPath, isNoPlaceToPay, { fix: 'give the path of the network of the payment' })
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
  return compilePayouts(settlement, context.prefix, (one) => compileDelivery(one, context))
}

function compileDelivery(settlement: SettlementProfile, context: LegContext) {
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
  service: ServiceName
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
    const { name, found } = readNetwork(place)
    if (name === stableWalletNetwork) return creditTo(address, context)
    const network = known.get(name) ?? unknownWord({ ...found, text: name }, 'unknown network', networkFix)
    return {
      network: network.name,
      address: spell(
        address,
        (text) => parseAddress(network.family, text),
        `is no address of ${network.name}`,
      ),
      asset: readAsset(place, network),
      tx: readTx(place, network),
    }
  }
}

/** In the form of the network; null if the id is absent and may be. */
function compileTransaction(field: TextField | undefined, prefix: string) {
  const find = field ? compileField(field, prefix) : () => null
  return (place: RecordContext, { family, name }: Pick<NetworkAssets, 'family' | 'name'>): TxId | null => {
    const found = find(place)
    return found && spell(found, (text) => parseTxId(family, text), `is no transaction of ${name}`)
  }
}

function creditTo({ text }: FieldReading, { service, vocabulary }: LegContext): LegLocation {
  const address = idAmongServices(service, text) as Address
  return { network: stableWalletNetwork, address, asset: vocabulary.creditAsset, tx: null }
}

/** Without the field, the asset's name determines the network. */
function compileNetwork(
  { network: field, asset }: LegFields,
  { profile, prefix }: LegContext,
): (place: RecordContext) => { name: string; found: FieldReading } {
  const find = compileRequired(field ?? asset, prefix)
  const words = new Map(Object.entries(profile.networks))
  const assets = new Map(Object.entries(profile.assets))
  return (place) => {
    const found = find(place)
    const { text, isOurs } = found
    if (field !== undefined) return { name: isOurs ? text : (words.get(text) ?? text), found }
    const { network } = parseAssetName(isOurs ? text : (assets.get(text) ?? ''))
    return { name: network ?? unknownWord(found, 'unknown asset', assetFix), found }
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
    const result = spell(
      found,
      (text): AssetLookup => {
        if (listed === undefined) return lookUp(network, text)
        const wanted = parseAssetName(listed)
        return wanted.network !== null && wanted.network !== network.name
          ? { problem: `${shownValue(found)} is ${listed}, and the network is ${network.name}` }
          : assetByName(network, wanted.name)
      },
      `is no contract on ${network.name}`,
    )
    return 'asset' in result
      ? result.asset
      : refuse(found.path, result.problem, { value: found.text, fix: assetFix })
  }
}

export const formFix = 'correct the path, or the network of the record'

export function spell<Value>(found: FieldReading, read: (text: string) => Value, problem: string): Value {
  try {
    return read(found.text)
  } catch {
    return refuseValue(found, problem, formFix)
  }
}
