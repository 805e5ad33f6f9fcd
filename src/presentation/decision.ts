import { formatAmount } from '../core/money.ts'
import type { RuleChange } from '../core/rule-set.ts'
import type { DecisionKind } from '../people/roles.ts'
import type { TableColumn } from './text.ts'

const kinds: Readonly<Record<DecisionKind, string>> = {
  person: 'change of a person',
  journal: 'journal by hand',
  reversal: 'reversal of a journal',
  close: 'close of a month',
  reopen: 'reopening of a month',
  write_off: 'write-off',
  match: 'match or split',
  resolve: 'resolution of a possible loss',
  addresses: 'change of the address book',
  opening: 'opening balances',
  restore: 'restore of the books',
  policy: 'change of the policy',
}

export function decisionKindText(kind: string): string {
  return kinds[kind as DecisionKind] ?? kind.replaceAll('_', ' ')
}

/** An address that a decision adds, or whose validity it ends. A recipient has no owner. */
export type AddressLine = {
  owner: string | null
  network: string
  address: string
  role?: string
  /** Null to make it valid again. */
  until?: string | null
}

/** Of what a decision about the address book books. */
export function addressLines(books: readonly unknown[]): AddressLine[] {
  return books.filter((one) => one !== null && typeof one === 'object' && 'address' in one) as AddressLine[]
}

export const addressColumns: TableColumn<AddressLine>[] = [
  { title: 'OWNER', value: ({ owner }) => owner ?? '' },
  { title: 'NETWORK', value: ({ network }) => network },
  { title: 'ADDRESS', value: ({ address }) => address },
  {
    title: 'WHAT',
    value: ({ role, until }) =>
      until === undefined ? `${role} address` : until === null ? 'valid again' : `valid until ${until}`,
  },
]

/** Of what a decision about the policy books. */
export function ruleLines(books: readonly unknown[]): RuleChange[] {
  return books.filter((one) => one !== null && typeof one === 'object' && 'setting' in one) as RuleChange[]
}

export const ruleColumns: TableColumn<RuleChange>[] = [
  { title: 'SETTING', value: ({ setting }) => setting },
  { title: 'BEFORE', value: ({ before }) => before ?? '-' },
  { title: 'AFTER', value: ({ after }) => after ?? '-' },
]

/** A mismatch that a decision resolves. `loss` is in base units of its asset, null if it cannot be measured. */
type Resolution = {
  mismatch: string
  kind: string
  subject: string
  loss: string | null
  loss_asset: string | null
}

export type ResolutionLine = Omit<Resolution, 'loss_asset'>

type NamedAsset = { symbol: string; network: string; decimals: number }

export function resolutionLines(
  books: readonly unknown[],
  assets: ReadonlyMap<string, NamedAsset>,
): ResolutionLine[] {
  const resolutions = books.filter(
    (one) => one !== null && typeof one === 'object' && 'mismatch' in one,
  ) as Resolution[]
  return resolutions.map(({ loss, loss_asset: key, ...one }) => {
    const asset = assets.get(key ?? '')
    const amount = loss === null || asset === undefined ? loss : formatAmount(BigInt(loss), asset.decimals)
    const symbol = asset === undefined ? (key ?? '') : `${asset.symbol} on ${asset.network}`
    return { ...one, loss: amount === null ? null : `${amount} ${symbol}` }
  })
}

export const resolutionColumns: TableColumn<ResolutionLine>[] = [
  { title: 'MISMATCH', value: ({ mismatch }) => mismatch, align: 'right' },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'ABOUT', value: ({ subject }) => subject },
  { title: 'LOSS', value: ({ loss }) => loss ?? 'not measured', align: 'right' },
]
