import type { SettlementClaim } from '../../core/evidence.ts'
import type { Amount } from '../../core/money.ts'
import { compilePath, type RecordContext, refuse, shownPath } from './find-field.ts'
import { listOf, type SettlementProfile } from './profile-schema.ts'

type SettlementReader = (place: RecordContext) => SettlementClaim | null

/** A deposit is delivered in a few transactions. */
const payoutsMax = 100

/**
 * Reads a settlement whose paths name each item of a list (`payouts.*.tx`): one item after the other, as one delivery
 * in several transactions. An item without a transaction is under way.
 * @param compileOne of the paths of one item
 */
export function compilePayouts(
  settlement: SettlementProfile,
  prefix: string,
  compileOne: (settlement: SettlementProfile) => SettlementReader,
): SettlementReader {
  const list = listOf(settlement)
  if (list === null) return compileOne(settlement)
  const find = compilePath(list)
  const readers: SettlementReader[] = []
  return (place) => {
    const count = countOf(find(place.record, place.payload), shownPath(list, prefix))
    // Of an empty list, the fields of its first item are missing, and may be or not.
    const parts = Array.from({ length: Math.max(count, 1) }, (_, item) => {
      const read = (readers[item] ??= compileOne(atItem(settlement, item)))
      return { item, claim: read(place) }
    }).filter((part): part is PayoutPart => part.claim !== null)
    return joined(parts, settlement, prefix)
  }
}

function countOf(found: unknown, path: string): number {
  if (found === undefined || found === null) return 0
  const fix = 'correct the paths with * of record.settlement, which must name the items of a list'
  if (!Array.isArray(found)) return refuse(path, 'is no list', { fix })
  if (found.length <= payoutsMax) return found.length
  return refuse(path, `has ${found.length} items; at most ${payoutsMax} are read`, {
    fix: 'let the service list fewer payouts in a record',
  })
}

type PayoutPart = { item: number; claim: SettlementClaim }

function joined(
  parts: readonly PayoutPart[],
  settlement: SettlementProfile,
  prefix: string,
): SettlementClaim | null {
  const [first] = parts
  if (first === undefined) return null
  for (const name of ['network', 'address', 'asset'] as const) {
    const other = parts.find(({ claim }) => claim[name] !== first.claim[name])
    if (other === undefined) continue
    const [path = ''] = atItem(settlement, other.item)[name]?.paths ?? []
    refuse(shownPath(path, prefix), `differs from the ${name} of item ${first.item}`, {
      value: other.claim[name],
      fix: 'ask the service: all payouts of a deposit have one network, address and asset',
    })
  }
  const claims = parts.map(({ claim }) => claim)
  const sum = (name: 'amount' | 'fee') =>
    isOfItems(settlement[name]) ? total(claims.map((claim) => claim[name])) : first.claim[name]
  const [tx = null, ...furtherTxs] = new Set(claims.flatMap((claim) => claim.tx ?? []))
  return {
    ...first.claim,
    amount: sum('amount'),
    tx,
    ...(furtherTxs.length > 0 && { furtherTxs }),
    fee: sum('fee'),
  }
}

/** Null unless all are stated. */
function total(amounts: readonly (Amount | null)[]): Amount | null {
  return amounts.reduce((sum, amount) =>
    sum === null || amount === null ? null : ((sum + amount) as Amount),
  )
}

type Paths = { paths: readonly string[]; decimals?: string | number | undefined }

function isOfItems(field: Paths | undefined): boolean {
  return field?.paths.some((path) => path.includes('*')) ?? false
}

/** The paths of one item, counted from 0. */
function atItem(settlement: SettlementProfile, item: number): SettlementProfile {
  const at = (path: string) => path.replace(/(?<=\.)\*(?=\.|$)/, `${item}`)
  const fields = Object.entries(settlement as Record<string, Paths | undefined>).map(([name, field]) => [
    name,
    field && {
      ...field,
      paths: field.paths.map(at),
      ...(typeof field.decimals === 'string' && { decimals: at(field.decimals) }),
    },
  ])
  return Object.fromEntries(fields) as SettlementProfile
}
