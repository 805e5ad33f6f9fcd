import { type Address, assetCode } from '../../core/asset.ts'
import { ascending } from '../heights.ts'
import { mapBounded } from '../map-bounded.ts'
import { refusal } from '../pool.ts'
import type { BalanceHistory, HeightRange, HistoryRequest } from '../types.ts'
import { accountsOf, readAtOneSlot, tokensOf } from './accounts.ts'
import type { TransactionBalances } from './balance-changes.ts'
import { readFinalMark, readWhole } from './blocks.ts'
import type { ListedSignature, SolanaScan } from './node.ts'
import { listBack } from './signatures.ts'
import { readReported, reportedInBlock } from './transactions.ts'

type Holder = { owner: Address; code: Address | 'native' }

/** `now`: the balance after all of them. */
type AccountHistory = { account: string; listed: readonly ListedSignature[]; now: bigint }

/** Each may find further accounts of the owner. */
const roundsMax = 4

/**
 * Follows the balances before and after each transaction. Reads as many slots as one scan.
 * @throws Fault `remote_failed` if the node's answers are not credible
 */
export async function readBalanceHistory(
  scan: SolanaScan,
  { address, asset, from, to }: HistoryRequest,
): Promise<BalanceHistory> {
  const holder: Holder = { owner: address, code: assetCode(asset) }
  const { height } = await readFinalMark(scan)
  let accounts = holder.code === 'native' ? [address] : await accountsOf(scan, address, height)
  const histories: AccountHistory[] = []
  for (let rounds = 0; rounds < roundsMax; rounds++) {
    histories.push(...(await listAccounts(scan, holder, { accounts: accounts, from, slot: height })))
    const reached = reachedWith(histories, { from, to }, scan.bounds.transactionsPerScan)
    const reported = await readSlots(scan, histories, { from, to: reached })
    accounts = unlisted(holder, histories, reported)
    if (accounts.length > 0) continue
    const traces = histories.map((history) => traceOf(holder, history, reported))
    return { balances: balancesReported(traces, { from, to: reached < to ? reached : to - 1n }), reached }
  }
  throw refusal(
    scan.node,
    `history of ${address}`,
    `each of ${roundsMax} rounds found further token accounts`,
  )
}

type AccountHistoryQuery = { accounts: readonly string[]; from: bigint; slot: bigint }

/** Reads balances first, so that a transaction in between is listed. */
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

/** In order; empty if a transaction of the slot cannot be read. */
type SlotBalances = ReadonlyMap<bigint, readonly TransactionBalances[]>

/** Also the nearest slot before and after the range, for each account. */
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
  const reported = await mapBounded(slots, scan.bounds.requestsAtOnce, (slot) =>
    readSlot(scan, slot, listed.get(slot) ?? []),
  )
  return new Map(slots.map((slot, place) => [slot, reported[place] ?? []]))
}

/** Histories list the transactions of a slot in any order, so several are ordered by the block. */
async function readSlot(
  scan: SolanaScan,
  slot: bigint,
  [first, second]: readonly ListedSignature[],
): Promise<TransactionBalances[]> {
  if (first !== undefined && second === undefined) {
    const reported = await readReported(scan, first)
    return typeof reported === 'string' ? [] : [reported]
  }
  const whole = await readWhole(scan, slot, null)
  if (whole === null)
    throw refusal(scan.node, `block ${slot}`, 'the node lists transactions in it, but has no block')
  if (typeof whole === 'string') return []
  const all = whole.transactions.map((one) => reportedInBlock(scan, one))
  const reported = all.filter((one) => typeof one !== 'string')
  return reported.length === all.length ? reported : []
}

/** Accounts that were created, filled, emptied and closed since. */
function unlisted(
  { owner, code }: Holder,
  histories: readonly AccountHistory[],
  reported: SlotBalances,
): string[] {
  const known = new Set(histories.map(({ account }) => account))
  const found = [...reported.values()]
    .flat()
    .flatMap(({ accounts, tokensBefore, tokensAfter }) =>
      [...tokensBefore, ...tokensAfter]
        .filter((holding) => holding.mint === code && holding.owner === owner)
        .map(({ account }) => accounts[account] ?? ''),
    )
  return [...new Set(found)].filter((account) => !known.has(account))
}

function traceOf(holder: Holder, { account, now }: AccountHistory, reported: SlotBalances): BalanceTrace {
  const touches = [...reported].flatMap(([slot, transactions]): Touch[] => {
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

/** A failed transaction moves no tokens. Rent in a token account is not its owner's coin. */
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

/** The balance before the first and after the last transaction of the slot. */
export type Touch = { slot: bigint; before: bigint; after: bigint }

export type BalanceTrace = { touches: readonly Touch[]; now: bigint }

/** Covers each slot that touched an account, and the slot before. Heights with an unknown balance are left out. */
export function balancesReported(
  traces: readonly BalanceTrace[],
  { from, to }: HeightRange,
): BalanceHistory['balances'] {
  const slots = traces.flatMap(({ touches }) => touches.map(({ slot }) => slot))
  const heights = new Set(slots.flatMap((slot) => [slot - 1n, slot]))
  return [...heights]
    .filter((height) => height >= from && height <= to)
    .toSorted(ascending)
    .flatMap((height) => {
      const amount = sum(traces.map((trace) => heldAt(trace, height)))
      return amount === null ? [] : [{ height, amount }]
    })
}

/**
 * Null if the balances of the adjacent touches differ: a hidden transaction may be in either slot, which makes both
 * unreliable.
 */
function heldAt({ touches, now }: BalanceTrace, height: bigint): bigint | null {
  const before = touches.findLast(({ slot }) => slot <= height)?.after ?? 0n
  const behind = touches.find(({ slot }) => slot > height)?.before ?? now
  return before === behind ? before : null
}

function sum(amounts: readonly (bigint | null)[]): bigint | null {
  return amounts.reduce((total, amount) => (total === null || amount === null ? null : total + amount), 0n)
}
