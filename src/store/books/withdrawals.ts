import { type Kysely, sql, type Transaction } from 'kysely'
import type { AssetKey } from '../../core/asset.ts'
import { accounts } from '../../core/chart.ts'
import { type ServiceName, serviceOf } from '../../core/evidence.ts'
import { lossOf } from '../../core/mismatch.ts'
import type { DecidedWithdrawal } from '../../core/withdrawals.ts'
import {
  endMismatches,
  type HeldMismatch,
  type MismatchChange,
  syncMismatches,
} from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'

export type GroupWithdrawal = DecidedWithdrawal & { groupId: bigint }

export async function saveWithdrawals(
  tx: Transaction<Tables>,
  withdrawals: readonly GroupWithdrawal[],
): Promise<void> {
  if (withdrawals.length === 0) return
  const rows = withdrawals.map(({ groupId, claim, state, leg }) => ({
    wallet: claim.wallet,
    withdrawal_id: claim.withdrawalId,
    group_id: groupId.toString(),
    service: serviceOf(claim.wallet),
    status: claim.status,
    state,
    asset: claim.asset,
    amount: claim.amount.toString(),
    network: claim.network,
    recipient: claim.to,
    tx: claim.tx,
    transfer: leg?.ref,
    occurred_at: claim.occurredAt,
  }))
  await sql`
    insert into withdrawal as w
    select * from jsonb_populate_recordset(null::withdrawal, ${JSON.stringify(rows)}::jsonb)
    on conflict (wallet, withdrawal_id) do update set group_id = excluded.group_id, status = excluded.status,
      state = excluded.state, asset = excluded.asset, amount = excluded.amount, network = excluded.network,
      recipient = excluded.recipient, tx = excluded.tx, transfer = excluded.transfer, occurred_at = excluded.occurred_at
    where w is distinct from excluded`.execute(tx)
}

/** In the asset in which wallets are credited. */
export type WalletBalance = { wallet: string; asset: AssetKey; balance: bigint }

/** Amounts as Postgres sends them. */
type WalletTie = Record<'balance' | 'books' | 'leaving' | 'arriving', string> & {
  wallet: string
  asset: AssetKey
  differsSince: Date | null
}

export type WalletReading = WalletBalance & {
  readAt: Date
  withinMs: number
}

/**
 * A difference is a mismatch once it has lasted for `withinMs`: something may just have been booked. A reading older than
 * the stored one changes nothing.
 */
export async function tieWallet(
  tx: Transaction<Tables>,
  { wallet, asset, balance, readAt, withinMs }: WalletReading,
): Promise<MismatchChange[]> {
  const account = accounts.stableWallet(wallet)
  const { rows } = await sql<WalletTie>`
    with tied as (
      select ${balance}::numeric as balance,
        coalesce((
          select t.debit - t.credit from ledger_turnover('infinity', 'infinity', array[${account}::text]) t
          where t.asset = ${asset}
        ), 0) as books,
        coalesce((
          select sum(w.amount) from withdrawal w
          where w.wallet = ${wallet} and w.asset = ${asset}
            and (w.state in ('requested', 'sent') or (w.state = 'unproved' and w.status <> 'failed'))
        ), 0) as leaving,
        coalesce((
          select sum(d.settlement_amount) from deposit d
          where d.owner_kind = 'stable_wallet' and d.owner_id = ${wallet} and d.settlement_asset = ${asset}
            and d.merged_into is null and d.state in ('observed', 'confirmed', 'settling', 'settled', 'held')
            -- Otherwise it is part of the opening balances.
            and (d.settled_at is null or coalesce(d.deposited_at > ledger_opened_at(), true))
            and not exists (
              select from ledger_journal j where j.deposit_id = d.id and j.kind = 'settlement'
                and not exists (select from ledger_journal taken where taken.reverses = j.id)
            )
        ), 0) as arriving
    )
    insert into wallet_balance as w
      (wallet, service, asset, balance, books, leaving, arriving, read_at, differs_since)
    select ${wallet}, ${serviceOf(wallet)}, ${asset}, balance, books, leaving, arriving, ${readAt}::timestamptz,
      case when balance not between books - leaving and books + arriving then ${readAt}::timestamptz end
    from tied
    on conflict (wallet) do update set asset = excluded.asset, balance = excluded.balance, books = excluded.books,
      leaving = excluded.leaving, arriving = excluded.arriving, read_at = excluded.read_at,
      differs_since = case when excluded.differs_since is not null
        then least(w.differs_since, excluded.differs_since) end
    where w.read_at < excluded.read_at
    returning wallet, asset, balance, books, leaving, arriving, differs_since as "differsSince"`.execute(tx)
  const [tie] = rows
  if (tie === undefined) return []
  const isLasting = tie.differsSince !== null && readAt.getTime() - tie.differsSince.getTime() >= withinMs
  const about = sql`kind = 'wallet_balance_mismatch' and subject = ${subjectOf(wallet)}`
  return syncMismatches(tx, about, isLasting ? [mismatchOf(tie)] : [])
}

/** Those of wallets whose balance is not compared any more. */
export function clearWallets(
  db: Kysely<Tables>,
  service: ServiceName,
  compared: readonly string[],
): Promise<MismatchChange[]> {
  return endMismatches(
    db,
    sql`kind = 'wallet_balance_mismatch' and service = ${service}
      and subject <> all(${compared.map(subjectOf)}::text[])`,
  )
}

function subjectOf(wallet: string): string {
  return `owner/stable_wallet/${wallet}`
}

function mismatchOf(tie: WalletTie): HeldMismatch {
  const { wallet, asset, balance, books, leaving, arriving } = tie
  const missing = BigInt(books) - BigInt(leaving) - BigInt(balance)
  const difference = missing > 0n ? -missing : BigInt(balance) - BigInt(books) - BigInt(arriving)
  return {
    subject: subjectOf(wallet),
    kind: 'wallet_balance_mismatch',
    service: serviceOf(wallet),
    asset,
    value: missing > 0n ? missing : difference,
    loss: lossOf(asset, missing),
    // Without the balances: with each payment a resolved mismatch would open again.
    detail: { wallet, asset, difference: `${difference}` },
  }
}

/** Ids of StableWallets of a service in the address book. */
export async function walletsOf(db: Kysely<Tables>, service: ServiceName): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from owner where kind = 'stable_wallet' order by id`.execute(db)
  return rows.map(({ id }) => id).filter((id) => serviceOf(id) === service)
}

/** `tied`: those whose balance agreed when it was read last. */
export async function countWallets(
  db: Kysely<Tables>,
  service: ServiceName,
): Promise<{ wallets: number; tied: number; differing: number }> {
  const wallets = await walletsOf(db, service)
  const { rows } = await sql<{ tied: number; differing: number }>`
    select count(*) filter (where differs_since is null)::int as tied, count(differs_since)::int as differing
    from wallet_balance where wallet = any(${wallets}::text[])`.execute(db)
  return { wallets: wallets.length, ...(rows[0] ?? { tied: 0, differing: 0 }) }
}
