import type { Address, AssetKey } from '../../core/asset.ts'
import type { SolanaWatch } from './watch.ts'

/** By how much one transaction changed what one owner holds of one asset; never zero. */
export type BalanceChange = { asset: AssetKey; owner: Address; amount: bigint }

/** The parts of a transaction that tell what it moved, whatever instructions moved it. */
export type Balances = {
  /** Every account of the transaction, those from lookup tables included, in the order of the balances. */
  accounts: readonly string[]
  fee: bigint
  lamportsBefore: readonly bigint[]
  lamportsAfter: readonly bigint[]
  tokensBefore: readonly TokenHolding[]
  tokensAfter: readonly TokenHolding[]
}

/** Old transactions do not name the owner. */
export type TokenHolding = { account: number; mint: string; owner: string | undefined; amount: bigint }

/** The changes of the watched assets, of all owners. */
export function balanceChanges(
  { mints, native }: Pick<SolanaWatch, 'mints' | 'native'>,
  balances: Balances,
): BalanceChange[] {
  const tokens = [...mints].flatMap(([mint, asset]) => toChanges(asset, tokenSums(balances, mint)))
  return native === null ? tokens : [...tokens, ...toChanges(native, coinSums(balances))]
}

type Sums = Map<string, bigint>

function toChanges(asset: AssetKey, sums: Sums): BalanceChange[] {
  return [...sums]
    .filter(([, amount]) => amount !== 0n)
    .map(([owner, amount]) => ({ asset, owner: owner as Address, amount }))
}

/** Summed over an owner's accounts, so that moving between them is no change. */
function tokenSums({ tokensBefore, tokensAfter }: Balances, mint: string): Sums {
  const sums: Sums = new Map()
  for (const holding of tokensAfter) if (holding.mint === mint) add(sums, ownerOf(holding), holding.amount)
  for (const holding of tokensBefore) if (holding.mint === mint) add(sums, ownerOf(holding), -holding.amount)
  return sums
}

function ownerOf({ owner, mint }: TokenHolding): string {
  if (owner === undefined) throw new Error(`a balance of ${mint} does not name its owner`)
  return owner
}

/**
 * Counts what each account itself holds. Rent that a token account was given is not its owner's; rent that an
 * owner gets back from a token account of his own was his before and is taken off. The fee is nobody's payment.
 */
function coinSums({ accounts, fee, lamportsBefore, lamportsAfter, tokensBefore }: Balances): Sums {
  const change = (place: number) => (lamportsAfter[place] ?? 0n) - (lamportsBefore[place] ?? 0n)
  const sums: Sums = new Map()
  for (const [place, account] of accounts.entries()) add(sums, account, change(place))
  add(sums, accounts[0] ?? '', fee)
  for (const { account, owner } of tokensBefore) {
    if (owner === undefined || (sums.get(owner) ?? 0n) <= 0n || change(account) >= 0n) continue
    add(sums, owner, change(account))
    add(sums, accounts[account] ?? '', -change(account))
  }
  return sums
}

function add(sums: Sums, owner: string, amount: bigint): void {
  sums.set(owner, (sums.get(owner) ?? 0n) + amount)
}
