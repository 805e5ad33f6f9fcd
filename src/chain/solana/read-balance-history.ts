import { type Address, assetCode } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import type { BalanceHistory, HeightRange, HistoryRequest } from '../port.ts'
import { accountsOf } from './accounts.ts'
import type { TransactionBalances } from './balances.ts'
import { readWhole } from './blocks.ts'
import { readFinalMark } from './final-mark.ts'
import { refusal } from './node.ts'
import { readAtOneSlot, tokensOf } from './read-balances.ts'
import { type ListedSignature, listBack } from './signatures.ts'
import { readTold, toldInBlock } from './transactions.ts'
import type { SolanaScan } from './watch.ts'

/** Whose tokens of which mint, or whose coin. */
type Holder = { owner: Address; code: Address | 'native' }

/** The transactions that touched one account, and what it holds behind them all. */
type AccountHistory = { account: string; listed: readonly ListedSignature[]; now: bigint }

/** Accounts of the owner may show only in transactions of others, and again in theirs. */
const turnsMax = 4

/**
 * Follows what an owner held through a stretch of final slots, by what the transactions that touched his accounts tell of
 * balances before and after them. As many slots are read as one scan reads.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function readBalanceHistory(
  scan: SolanaScan,
  { address, asset, from, to }: HistoryRequest,
): Promise<BalanceHistory> {
  const holder: Holder = { owner: address, code: assetCode(asset) }
  const { height } = await readFinalMark(scan)
  let wanted = holder.code === 'native' ? [address] : await accountsOf(scan, address, height)
  const histories: AccountHistory[] = []
  for (let turns = 0; turns < turnsMax; turns++) {
    histories.push(...(await listAccounts(scan, holder, { accounts: wanted, from, slot: height })))
    const reached = reachedWith(histories, { from, to }, scan.bounds.transactionsPerScan)
    const told = await readSlots(scan, histories, { from, to: reached })
    wanted = unlisted(holder, histories, told)
    if (wanted.length > 0) continue
    const traces = histories.map((history) => traceOf(holder, history, told))
    return { balances: balancesTold(traces, { from, to: reached < to ? reached : to - 1n }), reached }
  }
  throw refusal(scan.node, `history of ${address}`, 'it shows ever more token accounts')
}

type AccountHistoryQuery = { accounts: readonly string[]; from: bigint; slot: bigint }

/** What accounts hold is read before they are listed, so that a transaction in between is listed. */
async function listAccounts(
  scan: SolanaScan,
  { owner, code }: Holder,
  { accounts, from, slot: notBefore }: AccountHistoryQuery,
): Promise<AccountHistory[]> {
  const { slot, holdings } = await readAtOneSlot(scan, accounts, notBefore)
  const concerned = accounts.filter((account) => {
    const mint = holdings.get(account)?.token?.mint
    return mint === undefined || mint === code || code === 'native'
  })
  return mapBounded(concerned, scan.bounds.requestsAtOnce, async (account) => ({
    account,
    listed: await listBack(scan, { account, floor: from, slot }),
    now:
      code === 'native'
        ? (holdings.get(account)?.lamports ?? 0n)
        : tokensOf(owner, { mint: code, accounts: new Set([account]), holdings }),
  }))
}

/** The last slot that is read, where there are more than one reading takes. */
function reachedWith(
  histories: readonly AccountHistory[],
  { from, to }: HeightRange,
  slotsMax: number,
): bigint {
  const slots = [...new Set(histories.flatMap(({ listed }) => listed.map(({ slot }) => slot)))]
    .filter((slot) => slot >= from && slot <= to)
    .toSorted(ascending)
  return slots.length > slotsMax ? (slots[slotsMax - 1] ?? to) : to
}

/** By slot, the transactions that were read of it, in their order; none if one of them cannot be read. */
type SlotBalances = ReadonlyMap<bigint, readonly TransactionBalances[]>

/** Reads the slots of a stretch, and for each account the one before it and the one behind it. */
async function readSlots(
  scan: SolanaScan,
  histories: readonly AccountHistory[],
  { from, to }: HeightRange,
): Promise<SlotBalances> {
  const needed = histories.flatMap(({ listed }) => {
    const slots = [...new Set(listed.map(({ slot }) => slot))].toSorted(ascending)
    const [before, behind] = [slots.findLast((slot) => slot < from), slots.find((slot) => slot > to)]
    return [before, ...slots.filter((slot) => slot >= from && slot <= to), behind]
  })
  const slots = [...new Set(needed.filter((slot) => slot !== undefined))]
  const listed = Map.groupBy(
    new Map(histories.flatMap((one) => one.listed.map((entry) => [entry.signature, entry]))).values(),
    ({ slot }) => slot,
  )
  const told = await mapBounded(slots, scan.bounds.requestsAtOnce, (slot) =>
    readSlot(scan, slot, listed.get(slot) ?? []),
  )
  return new Map(slots.map((slot, place) => [slot, told[place] ?? []]))
}

/** A list may tell the transactions of one slot in any order: where there are several, the block has the true one. */
async function readSlot(
  scan: SolanaScan,
  slot: bigint,
  [first, second]: readonly ListedSignature[],
): Promise<TransactionBalances[]> {
  if (first !== undefined && second === undefined) {
    const told = await readTold(scan, first)
    return typeof told === 'string' ? [] : [told]
  }
  const whole = await readWhole(scan, slot)
  if (whole === null)
    throw refusal(scan.node, `block ${slot}`, 'it lists transactions of it, but has no block')
  if (typeof whole === 'string') return []
  const all = whole.transactions.map((one) => toldInBlock(scan, one))
  const told = all.filter((one) => typeof one !== 'string')
  return told.length === all.length ? told : []
}

/** Accounts of the owner that show only in what was read: they were made, filled, emptied and closed since. */
function unlisted(
  { owner, code }: Holder,
  histories: readonly AccountHistory[],
  told: SlotBalances,
): string[] {
  const known = new Set(histories.map(({ account }) => account))
  const found = [...told.values()]
    .flat()
    .flatMap(({ accounts, tokensBefore, tokensAfter }) =>
      [...tokensBefore, ...tokensAfter]
        .filter((holding) => holding.mint === code && holding.owner === owner)
        .map(({ account }) => accounts[account] ?? ''),
    )
  return [...new Set(found)].filter((account) => !known.has(account))
}

function traceOf(holder: Holder, { account, now }: AccountHistory, told: SlotBalances): BalanceTrace {
  const touches = [...told].flatMap(([slot, transactions]): Touch[] => {
    const amounts = transactions
      .filter(({ accounts }) => accounts.includes(account))
      .map((balances) => amountsOf(holder, account, balances))
    const [first, last] = [amounts[0], amounts.at(-1)]
    return first === undefined || last === undefined
      ? []
      : [{ slot, before: first.before, after: last.after }]
  })
  return { touches: touches.toSorted((left, right) => ascending(left.slot, right.slot)), now }
}

/** A failed transaction moves no tokens. Rent that an account keeps is none of its owner's coin. */
function amountsOf(
  { owner, code }: Holder,
  account: string,
  balances: TransactionBalances,
): Pick<Touch, 'before' | 'after'> {
  const place = balances.accounts.indexOf(account)
  if (code === 'native') {
    return { before: balances.lamportsBefore[place] ?? 0n, after: balances.lamportsAfter[place] ?? 0n }
  }
  const tokensIn = (holdings: TransactionBalances['tokensBefore']) =>
    holdings.find((one) => one.account === place && one.mint === code && one.owner === owner)?.amount ?? 0n
  const before = tokensIn(balances.tokensBefore)
  return { before, after: balances.failed ? before : tokensIn(balances.tokensAfter) }
}

function ascending(left: bigint, right: bigint): number {
  return left < right ? -1 : Number(left > right)
}

/** What one account held before the first, and after the last, of a slot's transactions that touched it. */
export type Touch = { slot: bigint; before: bigint; after: bigint }

/** One account, as transactions tell of it, lowest slot first, and what it holds behind them all. */
export type BalanceTrace = { touches: readonly Touch[]; now: bigint }

/**
 * The balances of several accounts together, next to the slots in which one of them was touched. A height at which one
 * of them is not known is left out.
 */
export function balancesTold(
  traces: readonly BalanceTrace[],
  { from, to }: HeightRange,
): BalanceHistory['balances'] {
  const slots = traces.flatMap(({ touches }) => touches.map(({ slot }) => slot))
  const heights = new Set(slots.flatMap((slot) => [slot - 1n, slot]))
  return [...heights]
    .filter((height) => height >= from && height <= to)
    .toSorted((left, right) => (left < right ? -1 : 1))
    .flatMap((height) => {
      const amount = sum(traces.map((trace) => heldAt(trace, height)))
      return amount === null ? [] : [{ height, amount }]
    })
}

/**
 * Null where what is told before that height and behind it differs. A hidden transaction may be in the very slots of
 * the two that are told, after the one or before the other, so that neither's slot has a balance that can be relied on.
 */
function heldAt({ touches, now }: BalanceTrace, height: bigint): bigint | null {
  const before = touches.findLast(({ slot }) => slot <= height)?.after ?? 0n
  const behind = touches.find(({ slot }) => slot > height)?.before ?? now
  return before === behind ? before : null
}

function sum(amounts: readonly (bigint | null)[]): bigint | null {
  return amounts.reduce((total, amount) => (total === null || amount === null ? null : total + amount), 0n)
}
