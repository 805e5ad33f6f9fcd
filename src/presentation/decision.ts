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
  addresses: 'change of the address book',
  opening: 'opening balances',
  restore: 'restore of the books',
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
