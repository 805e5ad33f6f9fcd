import type { AssetKey } from '../core/asset.ts'
import type { LedgerTransfer } from '../core/booking-targets.ts'
import { type AccountId, accounts } from '../core/chart.ts'
import type { Owner } from '../core/evidence.ts'
import type { Amount } from '../core/money.ts'
import { type ContraRule, contraFor } from '../core/owed.ts'
import { parseTime } from '../core/time.ts'
import type { DraftLine } from './draft-journal.ts'

/** In base units, debits positive. */
export type AccountBalance = { account: AccountId; asset: AssetKey; amount: bigint }

/** `amount` is null if nothing shows the balance. `basis` says what shows it, or why nothing does. */
export type BalanceProof = Omit<AccountBalance, 'amount'> & { amount: bigint | null; basis: string }

/** `proved` and `difference` are null without proof. */
export type OpeningRow = Omit<AccountBalance, 'amount'> & {
  stated: bigint
  proved: bigint | null
  difference: bigint | null
  basis: string
}

const columns = ['account', 'asset', 'balance']
const lotColumns = ['cost', 'acquired']

type FileRow = { line: number; cells: readonly string[] }

/** A line of the file, with what its units cost and since when they are held, if it says so. */
export type OpeningLine = DraftLine & { line: number; lot: { cost: string; acquiredAt: Date } | null }

/** Debit balances are positive; a balance of zero is left out. Each line is balanced by `equity:opening`. */
export function readOpening([head, ...rows]: readonly FileRow[]): { lines: OpeningLine[]; faults: string[] } {
  const names = head?.cells ?? []
  const isWhole = [columns, [...columns, ...lotColumns]].some(
    (whole) => names.length === whole.length && whole.every((name) => names.includes(name)),
  )
  if (!isWhole) {
    const fault = `line ${head?.line ?? 1}: has the columns ${names.join(', ') || 'none'}; it must have ${columns.join(', ')}, and may have ${lotColumns.join(' and ')}, in any order`
    return { lines: [], faults: [fault] }
  }
  const read = rows.map((row) => readRow(row, names))
  const stated = read.filter((one) => typeof one !== 'string')
  const repeated = [
    ...Map.groupBy(
      stated,
      ({ account, asset, lot }) => `${account} ${asset} ${lot?.acquiredAt.getTime()}`,
    ).values(),
  ].flatMap(([first, ...others]) => others.map(({ line }) => `line ${line}: repeats line ${first?.line}`))
  return {
    lines: stated.filter(({ balance }) => !isZero(balance)).map(lineOf),
    faults: [...read.filter((one) => typeof one === 'string'), ...repeated],
  }
}

type StatedBalance = Record<'account' | 'asset' | 'balance', string> & Pick<OpeningLine, 'line' | 'lot'>

/** @returns what is wrong with it, if anything is */
function readRow({ line, cells }: FileRow, names: readonly string[]): StatedBalance | string {
  if (cells.length !== names.length)
    return `line ${line}: has ${cells.length} cells, but the first line has ${names.length} columns`
  const cell = (name: string) => cells[names.indexOf(name)] ?? ''
  const [account, asset, balance] = [cell('account'), cell('asset'), cell('balance')]
  if (account === accounts.opening && !isZero(balance))
    return `line ${line}: ${account} is the other side of every balance, and has no line`
  if (!/^-?\d{1,78}(\.\d{1,78})?$/.test(balance))
    return `line ${line}: ${balance} is no balance, like 12.50 or -12.50`
  const lot = readLot({ cost: cell('cost'), acquired: cell('acquired') }, balance)
  return typeof lot === 'string' ? `line ${line}: ${lot}` : { line, account, asset, balance, lot }
}

/** @returns what is wrong with it, if anything is; null if there is none */
function readLot(
  { cost, acquired }: Record<'cost' | 'acquired', string>,
  balance: string,
): StatedBalance['lot'] | string {
  if (cost === '' && acquired === '') return null
  if (cost === '' || acquired === '') return 'cost and acquired must both be given, or neither'
  if (isZero(balance) || balance.startsWith('-'))
    return `${balance} units have no cost: only a balance above zero has one`
  const acquiredAt = parseTime(acquired)
  if (acquiredAt === null) return `${acquired} is neither a day nor a time, like 2025-11-20`
  return { cost, acquiredAt }
}

function isZero(balance: string): boolean {
  return /^-?[0.]+$/.test(balance)
}

function lineOf({ line, account, asset, balance, lot }: StatedBalance): OpeningLine {
  const isDebit = !balance.startsWith('-')
  const [debit, credit] = isDebit ? [account, accounts.opening] : [accounts.opening, account]
  return { debit, credit, asset, amount: balance.replace('-', ''), at: `line ${line}`, line, lot }
}

type AccountOwners = {
  owners: readonly Owner[]
  recipients: readonly { network: string; address: string }[]
  assets: Iterable<string>
  contras: readonly ContraRule[]
}

/** All accounts that can follow from evidence about these owners, besides those without an id. */
export function accountsFor({ owners, recipients, assets, contras }: AccountOwners): Set<string> {
  return new Set([
    ...owners.flatMap((owner) => [
      accounts.deposits(owner),
      ...contras.map((rule) => contraFor(rule, owner)),
      ...(owner.kind === 'stable_wallet' ? [accounts.stableWallet(owner.id)] : []),
    ]),
    ...recipients.map(({ network, address }) => accounts.forwarded(network, address)),
    ...[...assets].map((asset) => accounts.trading(asset as AssetKey)),
  ])
}

/** Against `equity:opening`. Balances of the same account and asset are added. */
export function openingTransfers(balances: readonly AccountBalance[]): LedgerTransfer[] {
  return [...summed(balances).values()].flatMap((one) => transferOf(one, accounts.opening))
}

function transferOf({ account, asset, amount }: AccountBalance, other: AccountId): LedgerTransfer[] {
  if (amount > 0n) return [{ debit: account, credit: other, asset, amount: amount as Amount }]
  return amount < 0n ? [{ debit: other, credit: account, asset, amount: -amount as Amount }] : []
}

function summed(balances: readonly AccountBalance[]): Map<string, AccountBalance> {
  const sums = new Map<string, AccountBalance>()
  for (const one of balances) {
    const key = keyOf(one)
    sums.set(key, { ...one, amount: (sums.get(key)?.amount ?? 0n) + one.amount })
  }
  return sums
}

function keyOf({ account, asset }: Pick<AccountBalance, 'account' | 'asset'>): string {
  return `${asset} ${account}`
}

/** Differences first, then by asset and account. A proof of zero for an account that is not stated is left out. */
export function compareOpening(
  transfers: readonly LedgerTransfer[],
  proofs: readonly BalanceProof[],
): OpeningRow[] {
  const stated = summed(transfers.map(statedBy))
  const proved = new Map(proofs.map((proof) => [keyOf(proof), proof]))
  const unstated = proofs.filter((proof) => !stated.has(keyOf(proof)) && proof.amount !== 0n)
  return [...stated.values(), ...unstated.map((proof) => ({ ...proof, amount: 0n }))]
    .map(({ account, asset, amount }) => {
      const proof = proved.get(keyOf({ account, asset }))
      const found = proof?.amount ?? null
      const difference = found === null ? null : found - amount
      return { account, asset, stated: amount, proved: found, difference, basis: proof?.basis ?? noProof }
    })
    .toSorted(differencesFirst)
}

const noProof = 'not proved: no chain and no list of the service shows it'

function statedBy({ debit, credit, asset, amount }: LedgerTransfer): AccountBalance {
  return debit === accounts.opening
    ? { account: credit, asset, amount: 0n - amount }
    : { account: debit, asset, amount }
}

function differencesFirst(left: OpeningRow, right: OpeningRow): number {
  const ranks = Number(isDifferent(right)) - Number(isDifferent(left))
  return ranks || (keyOf(left) < keyOf(right) ? -1 : 1)
}

export function isDifferent({ difference }: OpeningRow): boolean {
  return difference !== null && difference !== 0n
}

/** With them, each account has the proved balance. */
export function suspenseTransfers(rows: readonly OpeningRow[]): LedgerTransfer[] {
  return rows.flatMap(({ account, asset, difference }) =>
    transferOf({ account, asset, amount: difference ?? 0n }, accounts.suspense),
  )
}
