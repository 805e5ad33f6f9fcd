import { sql } from 'kysely'
import type { NetworkName } from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import { termsOf, withhold } from '../faults/deposit-faults.ts'
import type { Faults } from '../faults/faults.ts'
import type { ServiceDatabase, ServiceDepositRow } from '../tables.ts'
import { refundOf } from './deposit-actions.ts'
import { type DepositBook, type DepositChange, lockDeposits } from './deposits.ts'
import { decidePolicy, lockPolicies, type OwnerPolicy } from './policy.ts'
import type { Prices } from './prices.ts'
import { type PriceTable, type Quote, quote, type Terms } from './quote.ts'

export type ConversionDeps = DepositBook & { terms: Terms; prices: Prices; faults: Faults }

type DepositWithPolicy = ServiceDepositRow & { policy: OwnerPolicy | null }

const batchMax = 200

/** Returns how many deposits changed. Without a price, a deposit is held and does not block the others. */
export async function convertDeposits(converting: ConversionDeps, network: NetworkName): Promise<number> {
  let changed = 0
  for (let after: bigint | null = 0n; after !== null; ) {
    const batch: readonly DepositWithPolicy[] = await waitingDeposits(converting.db, network, after)
    changed += await saveDecisions(converting, batch)
    after = batch.length < batchMax ? null : (batch.at(-1)?.sequence ?? null)
  }
  return changed
}

function judgedDeposits(db: ServiceDatabase) {
  return db
    .selectFrom('service.deposit as deposit')
    .leftJoin('service.policy as policy', (join) =>
      join
        .onRef('policy.owner_kind', '=', 'deposit.owner_kind')
        .onRef('policy.owner_id', '=', 'deposit.owner_id'),
    )
    .selectAll('deposit')
    .select('policy.body as policy')
    .$castTo<DepositWithPolicy>()
    .where(sql<boolean>`(deposit.status = 'confirmed' or deposit.reason = 'price_missing')`)
    .orderBy('deposit.sequence')
}

function waitingDeposits(
  db: ServiceDatabase,
  network: NetworkName,
  after: bigint,
): Promise<readonly DepositWithPolicy[]> {
  return judgedDeposits(db)
    .where('deposit.network', '=', network)
    .where('deposit.sequence', '>', after)
    .limit(batchMax)
    .execute()
}

/**
 * Locks the owners, so that a policy applies to every undecided deposit once its request is answered. Deposits that
 * have left the state meanwhile, for example because of a refund request, stay as they are.
 */
async function saveDecisions(
  converting: ConversionDeps,
  batch: readonly DepositWithPolicy[],
): Promise<number> {
  const ids = decide(converting, batch).map(({ id }) => id)
  if (ids.length === 0) return 0
  return inTransaction(converting.db, async (tx) => {
    await lockPolicies(tx, ids)
    await lockDeposits(tx, ids)
    const judged = await judgedDeposits(tx).where(sql<boolean>`deposit.id = any(${ids})`).execute()
    const changed = await converting.deposits.change(tx, ['confirmed', 'held'], decide(converting, judged))
    return changed.length
  })
}

function decide(
  { terms, prices, faults }: ConversionDeps,
  batch: readonly DepositWithPolicy[],
): DepositChange[] {
  const table = prices.current()
  if (table === null) return []
  const quoting = { prices: table, now: new Date() }
  return batch
    .map(({ policy, ...deposit }) => {
      const change = convert(deposit, policy, { ...quoting, terms: termsOf(faults, deposit, terms) })
      return withhold(faults, deposit, change)
    })
    .filter((change) => change !== null)
}

/** Null if the deposit does not change. The quote made here is final. */
function convert(
  deposit: ServiceDepositRow,
  policy: OwnerPolicy | null,
  { terms, prices, now }: { terms: Terms; prices: PriceTable; now: Date },
): DepositChange | null {
  const { id } = deposit
  const quoted = quoteOf(deposit, { ...terms, prices })
  // Confirmed first, so that a policy stored meanwhile applies.
  if (deposit.status === 'held') return quoted === null ? null : { id, status: 'confirmed' }
  const decision = policy === null || deposit.released_at !== null ? null : decidePolicy(policy, deposit)
  if (decision?.kind === 'hold') return { id, status: 'held', reason: decision.reason }
  if (decision?.kind === 'refund') return refundOf(deposit, decision.to, decision.reason)
  if (quoted === null) return { id, status: 'held', reason: 'price_missing' }
  return deliver(deposit, quoted, now)
}

function deliver({ id, owner_kind }: ServiceDepositRow, quoted: Quote, now: Date): DepositChange {
  const columns = { to_amount: quoted.amount.toString(), fee: quoted.fee.toString(), rate: quoted.rate }
  if (quoted.amount === 0n) return { id, status: 'failed', reason: 'too_small', ...columns }
  return owner_kind === 'channel'
    ? { id, status: 'converting', ...columns }
    : { id, status: 'credited', to_at: now, ...columns }
}

function quoteOf(deposit: ServiceDepositRow, terms: Terms & { prices: PriceTable }): Quote | null {
  const from = { symbol: deposit.asset, decimals: deposit.decimals }
  const to = { symbol: deposit.to_asset, decimals: deposit.to_decimals }
  return quote(terms, BigInt(deposit.amount), { from, to })
}
