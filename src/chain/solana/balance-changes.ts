import type { Address, AssetKey } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'

/** At least one of the two amounts is not zero. */
export type BalanceChange = {
  asset: AssetKey
  owner: Address
  /** Net amount received from others, negative if paid, without the fee and without rent that only moved. */
  paid: bigint
  /** For any reason. */
  held: bigint
  /** If this is a token account: its owner. */
  holder?: Address
}

export type TransactionBalances = {
  failed: boolean
  /** Includes those from lookup tables, in the order of the balances. */
  accounts: readonly string[]
  fee: bigint
  lamportsBefore: readonly bigint[]
  lamportsAfter: readonly bigint[]
  tokensBefore: readonly TokenHolding[]
  tokensAfter: readonly TokenHolding[]
}

/** Old transactions do not name the owner. */
export type TokenHolding = { account: number; mint: string; owner: string | undefined; amount: bigint }

export type WatchedAssets = {
  mints: ReadonlyMap<Address, AssetKey>
  /** Null if it is not among the assets. */
  native: AssetKey | null
}

/** For all owners. A failed transaction costs its fee and moves nothing. */
export function balanceChanges(watch: WatchedAssets, balances: TransactionBalances): BalanceChange[] {
  const { native } = watch
  const coins = (): BalanceChange[] => (native === null ? [] : coinChanges(native, balances))
  if (balances.failed) return coins().map((change) => ({ ...change, paid: 0n }))
  return [...tokenChanges(watch, balances), ...coins()]
}

type Sums = Map<string, bigint>

function tokenChanges({ mints }: WatchedAssets, balances: TransactionBalances): BalanceChange[] {
  return [...mints].flatMap(([mint, asset]) =>
    [...tokenSums(balances, mint)]
      .filter(([, amount]) => amount !== 0n)
      .map(([owner, amount]) => ({ asset, owner: owner as Address, paid: amount, held: amount })),
  )
}

/** A move between an owner's accounts is no change. */
function tokenSums({ tokensBefore, tokensAfter }: TransactionBalances, mint: string): Sums {
  const sums: Sums = new Map()
  for (const holding of tokensAfter) if (holding.mint === mint) add(sums, ownerOf(holding), holding.amount)
  for (const holding of tokensBefore) if (holding.mint === mint) add(sums, ownerOf(holding), -holding.amount)
  return sums
}

function ownerOf({ owner, mint }: TokenHolding): string {
  assert(owner !== undefined, `a balance of ${mint} names its owner`)
  return owner
}

function coinChanges(asset: AssetKey, balances: TransactionBalances): BalanceChange[] {
  const held: Sums = new Map()
  for (const [place, account] of balances.accounts.entries()) add(held, account, coinChange(balances, place))
  const paid = coinsPaid(balances, held)
  const holders = new Map(
    balances.tokensAfter.map(({ account, owner }) => [balances.accounts[account], owner]),
  )
  return [...held]
    .map(([owner, change]) => ({
      asset,
      owner: owner as Address,
      paid: paid.get(owner) ?? 0n,
      held: change,
      ...(holders.has(owner) && { holder: holders.get(owner) as Address }),
    }))
    .filter((change) => change.paid !== 0n || change.held !== 0n)
}

/**
 * Neither the fee nor rent is a payment: rent paid into a token account is not its owner's, and rent returned from one
 * is subtracted.
 */
function coinsPaid(balances: TransactionBalances, held: Sums): Sums {
  const { accounts, fee, tokensBefore } = balances
  const sums: Sums = new Map(held)
  add(sums, accounts[0] ?? '', fee)
  for (const { account, owner } of tokensBefore) {
    const change = coinChange(balances, account)
    if (owner === undefined || (sums.get(owner) ?? 0n) <= 0n || change >= 0n) continue
    add(sums, owner, change)
    add(sums, accounts[account] ?? '', -change)
  }
  return sums
}

function coinChange({ lamportsBefore, lamportsAfter }: TransactionBalances, place: number): bigint {
  return (lamportsAfter[place] ?? 0n) - (lamportsBefore[place] ?? 0n)
}

function add(sums: Sums, owner: string, amount: bigint): void {
  sums.set(owner, (sums.get(owner) ?? 0n) + amount)
}
