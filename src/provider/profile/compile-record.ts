import {
  type Claim,
  type ClaimStatus,
  type Owner,
  type ServiceId,
  stableWalletNetwork,
} from '../../core/evidence.ts'
import { compileLeg, compileTransaction, type LegContext } from './compile-leg.ts'
import { compileAmount, compileWordField } from './compile-value.ts'
import {
  compileField,
  compileRequired,
  type FieldReading,
  type RecordContext,
  refuse,
  Unreadable,
  wordOf,
} from './find-field.ts'
import { knownNetworks } from './known-assets.ts'
import { compilePath } from './path.ts'
import type { Profile } from './profile-schema.ts'

/** What a record says, but for who said it and when. */
export type RecordClaim = Omit<Claim, 'kind' | 'source' | 'receivedAt' | 'occurredAt' | 'isUndated'>

type RecordProfile = Profile['record']

/** Makes what reads a record; null for one that the profile passes over. */
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

/** Nothing is said of a refund as long as no transaction of it is named. */
function compileRefund(refund: RecordProfile['refund'], { prefix, vocabulary }: LegContext) {
  const readTx = compileTransaction(refund?.transaction, prefix)
  const known = knownNetworks(vocabulary)
  return (place: RecordContext, { network }: Claim['deposit']): Pick<Claim, 'refund'> => {
    const of = known.get(network)
    const tx = of === undefined ? null : readTx(place, of)
    return tx === null ? {} : { refund: { tx } }
  }
}
