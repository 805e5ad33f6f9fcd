import {
  columnsOf,
  hasForm,
  isEnumerable,
  isSaid,
  type SampleColumn,
  saidAt,
  wordsOf,
} from '../infer/columns.ts'
import type { Section } from '../infer/find-records.ts'
import { comparable } from '../infer/hints.ts'
import type { ProofNote } from './find-paging.ts'

/** The section `owners.channels` or `owners.wallets` of a profile, without its list. */
export type FoundOwners = {
  kind: 'channel' | 'stable_wallet'
  record: Section
  notes: readonly ProofNote[]
  /** As written in the answer, not yet approved. */
  places: { deposits: string[]; recipients: string[]; ids: string[] }
}

export type DepositFacts = { addresses: ReadonlySet<string>; columns: readonly SampleColumn[] }

/**
 * From a list whose records hold addresses of deposits. A list with another address per owner, to which it forwards, is
 * of channels. @returns null if none of the addresses is in the records, or they have no id or no network
 */
export function ownersIn(records: readonly unknown[], deposits: DepositFacts): FoundOwners | null {
  const columns = columnsOf(records)
  const place = addressPlace(columns, deposits.addresses)
  if (place === null) return null
  const { list, inside } = place
  const outer = columns.filter(({ path }) => list === null || !path.startsWith(`${list}.`))
  const inner = list === null ? outer : itemColumns(columns, list)
  const recipients = outer.filter((column) => hasForm(column, 'address') && column.path !== inside)
  const [recipient] = recipients
  const network = named(inner, networkWords, forwardWords)
  const addressColumns = columns.filter(({ path }) => placeOf(path, list) === inside)
  const paid = paidRows(addressColumns, deposits.columns)
  const id = idColumn(outer, { paid, deposits: deposits.columns, isFlat: list === null })
  if (id === null || network === undefined) return null
  const record = { id: id.column.path, addresses: list, network: network.path, address: inside }
  const places = {
    deposits: textsOf(addressColumns),
    recipients: textsOf(recipients),
    ids: textsOf([id.column]),
  }
  if (recipient === undefined) return { kind: 'stable_wallet', record, notes: notesOf('wallets', id), places }
  const forward = forwardOf(outer, recipient, network)
  return { kind: 'channel', record: { ...record, ...forward }, notes: notesOf('channels', id), places }
}

type OwnerIdColumn = { column: SampleColumn; naming: IdNaming }

/** `named`: each deposit names the owner of its address by this value, and there are several; `one`: of one owner. */
type IdNaming = 'named' | 'one' | 'none'

function notesOf(section: string, { naming }: OwnerIdColumn): ProofNote[] {
  const at = (field: string) => ['owners', section, 'record', field]
  return [
    { path: at('address'), isProved: true, text: 'deposits were paid to these addresses' },
    { path: at('id'), isProved: naming === 'named', text: namingTexts[naming] },
  ]
}

const namingTexts: Readonly<Record<IdNaming, string>> = {
  named: 'each deposit names the owner of its address so',
  one: 'each deposit names the owner of its address so, but only one owner received deposits',
  none: 'deposits do not name the owner of their address so',
}

/** Which record of the owners, and which deposit, share an address. */
type PaymentLink = { owner: number; deposit: number }

function paidRows(
  addressColumns: readonly SampleColumn[],
  deposits: readonly SampleColumn[],
): readonly PaymentLink[] {
  const owners = new Map(
    addressColumns.flatMap(({ leaves }) =>
      leaves.flatMap((leaf, row) => (isSaid(leaf) ? [[comparable(leaf.text), row] as const] : [])),
    ),
  )
  return deposits.flatMap(({ leaves }) =>
    leaves.flatMap((leaf, deposit) => {
      const owner = isSaid(leaf) ? owners.get(comparable(leaf.text)) : undefined
      return owner === undefined ? [] : [{ owner, deposit }]
    }),
  )
}

function namingOf(
  { leaves: ids }: SampleColumn,
  paid: readonly PaymentLink[],
  deposits: readonly SampleColumn[],
): IdNaming {
  const isNaming = ({ leaves }: SampleColumn) =>
    paid.every(({ owner, deposit }) => isSaid(ids[owner]) && ids[owner].text === leaves[deposit]?.text)
  if (!deposits.some(isNaming)) return 'none'
  return new Set(paid.map(({ owner }) => ids[owner]?.text)).size > 1 ? 'named' : 'one'
}

function textsOf(columns: readonly SampleColumn[]): string[] {
  return [...new Set(columns.flatMap(saidAt).map(({ text }) => text))]
}

/** The path within an item of the list, or within the record. */
function placeOf(path: string, list: string | null): string {
  return list === null || !path.startsWith(`${list}.`)
    ? path
    : path.slice(list.length + 1).replace(/^\d+\./, '')
}

const networkWords = ['network', 'chain', 'blockchain', 'rail', 'ledger', 'net']
const assetWords = ['asset', 'currency', 'token', 'symbol', 'coin', 'ticker']
const forwardWords = ['forward', 'payout', 'destination', 'target', 'recipient', 'settlement', 'out', 'to']

/** `list` is null if each record is one address. */
type AddressPlace = { list: string | null; inside: string }

/**
 * In a list within the record, whose items are numbered, or in the record itself. Recipients are addresses of deposits
 * too, but many owners share one.
 */
function addressPlace(columns: readonly SampleColumn[], addresses: ReadonlySet<string>): AddressPlace | null {
  const hits = columns
    .map((column) => ({ path: column.path, count: countIn(column, addresses) }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count)
  const [best] = hits
  if (best === undefined) return null
  const [, list, inside] = /^(.*?)\.\d+\.(.+)$/.exec(best.path) ?? []
  return list !== undefined && inside !== undefined ? { list, inside } : { list: null, inside: best.path }
}

function itemColumns(columns: readonly SampleColumn[], list: string): SampleColumn[] {
  const found = columns.filter(({ path }) => path.startsWith(`${list}.0.`))
  return found.map(({ path, leaves }) => ({ path: path.slice(list.length + 3), leaves }))
}

function countIn(column: SampleColumn, addresses: ReadonlySet<string>): number {
  return new Set(saidAt(column).map(({ text }) => comparable(text))).intersection(addresses).size
}

/** With one of these words at its end or else on its way, and rather without the others. */
function named(
  columns: readonly SampleColumn[],
  words: readonly string[],
  others: readonly string[] = [],
): SampleColumn | undefined {
  const isAtEnd = ({ path }: SampleColumn) => wordsOf(path).last.some((one) => words.includes(one))
  return columns
    .filter((column) => hasForm(column, 'token') && isOf(column, words))
    .toSorted(
      (one, other) =>
        Number(isOf(one, others)) - Number(isOf(other, others)) ||
        Number(isAtEnd(other)) - Number(isAtEnd(one)),
    )[0]
}

function isOf({ path }: SampleColumn, words: readonly string[]): boolean {
  const { last, before } = wordsOf(path)
  return [...last, ...before].some((word) => words.includes(word))
}

const idWords = ['id', 'key', 'reference', 'ref', 'code', 'uuid', 'number', 'handle', 'name', 'slug']

type IdFacts = { paid: readonly PaymentLink[]; deposits: readonly SampleColumn[]; isFlat: boolean }

/** One value per owner. By whether deposits name their owners so, then by its name. */
function idColumn(
  columns: readonly SampleColumn[],
  { paid, deposits, isFlat }: IdFacts,
): OwnerIdColumn | null {
  const tokens = columns.filter(
    (column) =>
      hasForm(column, 'token') &&
      !hasForm(column, 'address') &&
      !hasForm(column, 'time') &&
      isUnique(column, isFlat),
  )
  // A short number that counts is rather a network, a kind or a row.
  const telling = tokens.filter((column) => !isEnumerable(column))
  const [best] = (telling.length > 0 ? telling : tokens)
    .map((column) => ({ column, naming: namingOf(column, paid, deposits) }))
    .toSorted(
      (one, other) =>
        Number(one.naming === 'none') - Number(other.naming === 'none') ||
        rankOf(one.column) - rankOf(other.column),
    )
  return best ?? null
}

function rankOf({ path }: SampleColumn): number {
  const rank = idWords.findIndex((word) => wordsOf(path).last.includes(word))
  return rank === -1 ? idWords.length : rank
}

/** In a list of addresses, an owner has one record per network. */
function isUnique(column: SampleColumn, isFlat: boolean): boolean {
  const said = saidAt(column)
  const { size } = new Set(said.map(({ text }) => text))
  return isFlat ? size * 4 >= said.length : size === said.length
}

function forwardOf(
  columns: readonly SampleColumn[],
  recipient: SampleColumn,
  network: SampleColumn,
): Section {
  const others = columns.filter(({ path }) => path !== network.path)
  const forwardNetwork = others.toSorted(
    (one, other) => Number(isOf(other, forwardWords)) - Number(isOf(one, forwardWords)),
  )
  return {
    forwardNetwork: named(forwardNetwork, networkWords)?.path,
    forwardAsset: named(others, assetWords)?.path,
    forwardRecipient: recipient.path,
  }
}
