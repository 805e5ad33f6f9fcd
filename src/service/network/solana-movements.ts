import { type Address, type AssetCode, parseAddress } from '../../core/asset.ts'

/** How one owner's holding of one mint, or of lamports, changed in one transaction. */
export type HoldingChange = { owner: Address; code: AssetCode; change: bigint }

/** The part of a transaction that says what changed. Both lists of balances are in the order of the accounts. */
export type BalanceRecord = {
  accounts: readonly string[]
  /** What the network took of the first account for running the transaction. */
  fee: bigint
  pre: readonly bigint[]
  post: readonly bigint[]
  preTokens: readonly TokenBalanceEntry[]
  postTokens: readonly TokenBalanceEntry[]
}

type TokenBalanceEntry = { mint: string; owner?: string; uiTokenAmount: { amount: string } }

/**
 * What a transaction moved, read from balances and never from instructions, so that inner transfers, transfers
 * without a mint and programs nobody has heard of are all covered. Zero changes are left out.
 */
export function movementsOf(record: BalanceRecord): HoldingChange[] {
  return [...tokenMovements(record), ...lamportMovements(record)].filter(({ change }) => change !== 0n)
}

/** Who paid for an asset, where the balances show exactly one who gave it away. */
export function soleSender(movements: readonly HoldingChange[], code: AssetCode): Address | null {
  const givers = movements.filter((movement) => movement.code === code && movement.change < 0n)
  return givers.length === 1 ? (givers[0]?.owner ?? null) : null
}

function tokenMovements({ preTokens, postTokens }: BalanceRecord): HoldingChange[] {
  const sums = new Map<string, HoldingChange>()
  const add = (sign: bigint) => (holding: TokenBalanceEntry) => {
    if (holding.owner === undefined) return
    const [owner, code] = [parseAddress('solana', holding.owner), parseAddress('solana', holding.mint)]
    const before = sums.get(`${owner}/${code}`)?.change ?? 0n
    sums.set(`${owner}/${code}`, {
      owner,
      code,
      change: before + sign * BigInt(holding.uiTokenAmount.amount),
    })
  }
  preTokens.forEach(add(-1n))
  postTokens.forEach(add(1n))
  return [...sums.values()]
}

/** The fee is left out: who pays it for others has not paid the deposit. */
function lamportMovements({ accounts, fee, pre, post }: BalanceRecord): HoldingChange[] {
  return accounts.map((account, place) => ({
    owner: parseAddress('solana', account),
    code: 'native',
    change: (post[place] ?? 0n) - (pre[place] ?? 0n) + (place === 0 ? fee : 0n),
  }))
}
