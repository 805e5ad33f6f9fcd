import { type CostBasis, isOwn, type Lot, noLots, type Pool, poolOf } from './lots.ts'

export type LotPlace = Pick<Lot, 'account' | 'asset' | 'depositId'>

/** Accounts in one pool share their costs. */
export function poolKey({ account, asset, depositId }: LotPlace, basis: CostBasis): string {
  if (basis.pool === 'asset' && isOwn(account, basis)) return `own ${asset}`
  return `${account} ${asset} ${depositId ?? ''}`
}

export function isTrading(account: string): boolean {
  return account.startsWith('trading:')
}

/** By their keys; those of trading accounts by their deposits, too. There may be many: most deposits leave some open. */
export class Pools {
  readonly #pools = new Map<string, Pool>()
  readonly #trading = new Map<bigint | null, Set<string>>()

  constructor(lots: readonly Lot[], basis: CostBasis) {
    for (const [key, own] of Map.groupBy(lots, (lot) => poolKey(lot, basis))) this.set(key, poolOf(own))
  }

  get(key: string): Pool {
    return this.#pools.get(key) ?? noLots
  }

  /** Empty pools are not kept. */
  set(key: string, pool: Pool): void {
    const lot = pool.lots[0] ?? this.get(key).lots[0]
    if (lot === undefined) return
    if (pool.lots.length > 0) this.#pools.set(key, pool)
    else this.#pools.delete(key)
    if (isTrading(lot.account)) this.#index(lot.depositId, key)
  }

  /** The keys of those in trading accounts. */
  ofDeposit(depositId: bigint | null): readonly string[] {
    return [...(this.#trading.get(depositId) ?? [])]
  }

  lots(): Lot[] {
    return [...this.#pools.values()].flatMap(({ lots }) => lots)
  }

  #index(depositId: bigint | null, key: string): void {
    const keys = this.#trading.get(depositId) ?? new Set()
    if (this.#pools.has(key)) keys.add(key)
    else keys.delete(key)
    if (keys.size > 0) this.#trading.set(depositId, keys)
    else this.#trading.delete(depositId)
  }
}
