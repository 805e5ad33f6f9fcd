import { sql } from 'kysely'
import {
  type Address,
  type AssetCode,
  assetCode,
  type NetworkName,
  type NetworkSettings,
} from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import { findAsset, stableAsset } from '../catalog.ts'
import type { ServiceDatabase, ServiceTransaction, WithdrawalRow } from '../tables.ts'
import { reportWithdrawals } from '../webhooks/withdrawal-events.ts'

/** `amount`: USDC with 6 decimals. */
export type NewWithdrawal = {
  wallet: string
  /** An idempotency key, chosen by the caller. */
  id: string
  network: NetworkName
  recipient: Address
  amount: bigint
}

export type WithdrawalOutcome =
  | { kind: 'created' | 'existing'; withdrawal: WithdrawalRow }
  /** Another withdrawal has this id. */
  | { kind: 'conflict' }
  | { kind: 'wallet_unknown' }
  | { kind: 'balance_short'; balance: bigint }
  | { kind: 'asset_unknown' }
  | { kind: 'amount_inexact'; decimals: number }

type WithdrawalAsset = { asset: AssetCode }

/** The loop of its network signs and sends it. The lock on the owner's row prevents spending the balance twice. */
export async function createWithdrawal(
  { db, networks }: { db: ServiceDatabase; networks: readonly NetworkSettings[] },
  wanted: NewWithdrawal,
): Promise<WithdrawalOutcome> {
  const asset = findAsset(networks, wanted.network, stableAsset.symbol)
  if (asset === null) return { kind: 'asset_unknown' }
  if (inNetworkUnits(wanted.amount, asset.decimals) === null)
    return { kind: 'amount_inexact', decimals: asset.decimals }
  return inTransaction(db, async (tx) => {
    const outcome = await accept(tx, wanted, { asset: assetCode(asset.key) })
    if (outcome.kind === 'created') await reportWithdrawals(tx, networks, [outcome.withdrawal])
    return outcome
  })
}

/** Newest first; `before` is the sequence of the last row of the previous page. */
export function listWithdrawals(
  db: ServiceDatabase,
  wallet: string,
  { before, limit }: { before: bigint | null; limit: number },
): Promise<readonly WithdrawalRow[]> {
  return db
    .selectFrom('service.withdrawal')
    .selectAll()
    .where('wallet_id', '=', wallet)
    .where(sql<boolean>`(${before}::bigint is null or sequence < ${before})`)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

export async function getWithdrawal(
  db: ServiceDatabase,
  { wallet, id }: { wallet: string; id: string },
): Promise<WithdrawalRow | null> {
  const found = await db
    .selectFrom('service.withdrawal')
    .selectAll()
    .where('wallet_id', '=', wallet)
    .where('id', '=', id)
    .executeTakeFirst()
  return found ?? null
}

/** With 6 decimals. Failed withdrawals do not count. */
export async function walletBalance(db: ServiceDatabase, wallet: string): Promise<bigint> {
  const { rows } = await sql<{ balance: string }>`
    select coalesce((
        select sum(to_amount) from service.deposit
        where owner_kind = 'stable_wallet' and owner_id = ${wallet} and status = 'credited'), 0)
      - coalesce((
        select sum(amount) from service.withdrawal where wallet_id = ${wallet} and status <> 'failed'), 0)
      as balance`.execute(db)
  return BigInt(rows[0]?.balance ?? '0')
}

/** Null if they cannot represent the amount exactly. */
export function inNetworkUnits(amount: bigint, decimals: number): bigint | null {
  const more = decimals - stableAsset.decimals
  if (more >= 0) return amount * 10n ** BigInt(more)
  const unit = 10n ** BigInt(-more)
  return amount % unit === 0n ? amount / unit : null
}

async function accept(
  tx: ServiceTransaction,
  wanted: NewWithdrawal,
  { asset }: WithdrawalAsset,
): Promise<WithdrawalOutcome> {
  const wallet = await tx
    .selectFrom('service.owner')
    .select('branch')
    .where('kind', '=', 'stable_wallet')
    .where('id', '=', wanted.wallet)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (wallet === undefined) return { kind: 'wallet_unknown' }
  const existing = await getWithdrawal(tx, wanted)
  if (existing !== null)
    return isSame(existing, wanted) ? { kind: 'existing', withdrawal: existing } : { kind: 'conflict' }
  const balance = await walletBalance(tx, wanted.wallet)
  if (balance < wanted.amount) return { kind: 'balance_short', balance }
  const { wallet: wallet_id, amount, ...rest } = wanted
  const withdrawal = await tx
    .insertInto('service.withdrawal')
    .values({ ...rest, wallet_id, asset, amount: amount.toString() })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { kind: 'created', withdrawal }
}

function isSame({ network, recipient, amount }: WithdrawalRow, wanted: NewWithdrawal): boolean {
  return network === wanted.network && recipient === wanted.recipient && BigInt(amount) === wanted.amount
}
