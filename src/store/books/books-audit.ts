import { type Kysely, sql, type Transaction } from 'kysely'
import { type AssetKey, assetNetwork } from '../../core/asset.ts'
import { lossOf, type MismatchKind } from '../../core/mismatch.ts'
import { type HeldMismatch, type MismatchChange, syncMismatches } from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'

/** Amounts are in base units. */
export type Imbalance = {
  asset: AssetKey
  /** Debits minus credits, from daily sums and later transfers. */
  sum: bigint
  /** Absolute amounts in transit for payments of closed deposits, and one of these deposits. */
  left: bigint
  deposits: number
  deposit: bigint | null
  /** Absolute differences between the books and proved balances, and one of the addresses. */
  untied: bigint
  addresses: number
  address: string | null
}

type ImbalanceRow = Omit<Imbalance, 'sum' | 'left' | 'untied'> & { sum: string; left: string; untied: string }

/**
 * Both sides of a transfer are in one row and always balance; the stored sums may not. A deposit is closed if it is
 * reconciled, or its payment is no longer on the chain.
 */
export async function findImbalances(db: Kysely<Tables>): Promise<Imbalance[]> {
  const { rows } = await sql<ImbalanceRow>`
    with unbalanced as (
      select asset, sum(debit - credit) as sum from ledger_turnover('infinity', 'infinity')
      group by asset having sum(debit - credit) <> 0
    ), in_transit as (
      select j.transfer, e.asset, sum(e.amount) as left
      from ledger_entry e join ledger_journal j on j.id = e.journal_id
      where e.account like 'assets:in_transit:%'
      group by j.transfer, e.asset having sum(e.amount) <> 0
    ), left_over as (
      select t.asset, sum(abs(t.left)) as left, count(*)::int as deposits, min(d.id) as deposit
      from in_transit t join deposit d on d.transfer = t.transfer
      where d.merged_into is null and d.state in ('reconciled', 'refunded', 'orphaned')
        -- It came in with the opening balances.
        and not (coalesce(d.deposited_at <= ledger_opened_at(), false) and t.left = -d.amount)
      group by t.asset
    ), untied as (
      select asset, sum(abs(difference)) as untied, count(*)::int as addresses, min(address) as address
      from ledger_tie where difference <> 0 group by asset
    )
    select asset, coalesce(sum, 0)::text as sum, coalesce("left", 0)::text as left,
      coalesce(deposits, 0) as deposits, deposit, coalesce(untied, 0)::text as untied,
      coalesce(addresses, 0) as addresses, address
    from unbalanced full join left_over using (asset) full join untied using (asset)
    order by asset`.execute(db)
  return rows.map(({ sum, left, untied, ...row }) => ({
    ...row,
    sum: BigInt(sum),
    left: BigInt(left),
    untied: BigInt(untied),
  }))
}

export async function countControlled(db: Kysely<Tables>): Promise<Record<'assets' | 'addresses', number>> {
  const { rows } = await sql<Record<'assets' | 'addresses', number>>`
    select (select count(distinct asset)::int from ledger_account) as assets,
      (select count(distinct (network, address))::int from balance_point) as addresses`.execute(db)
  return rows[0] ?? { assets: 0, addresses: 0 }
}

const ledgerImbalance = 'ledger_imbalance'

export function syncImbalances(
  tx: Transaction<Tables>,
  imbalances: readonly Imbalance[],
): Promise<MismatchChange[]> {
  const about = sql`kind = ${ledgerImbalance} and subject like 'books/%'`
  return syncMismatches(tx, about, imbalances.map(toMismatch))
}

function toMismatch(imbalance: Imbalance): HeldMismatch {
  const { asset, sum, left, untied } = imbalance
  const off = (sum < 0n ? -sum : sum) + left + untied
  return {
    subject: `books/${asset}`,
    kind: ledgerImbalance,
    network: assetNetwork(asset),
    asset,
    value: off,
    loss: lossOf(asset, off),
    detail: detailOf(imbalance),
  }
}

function detailOf({ sum, left, deposits, deposit, untied, addresses, address }: Imbalance) {
  return {
    ...(sum === 0n ? {} : { sum: sum.toString() }),
    ...(deposit === null ? {} : { left: left.toString(), deposits: `${deposits}`, deposit: `${deposit}` }),
    // An amount that was never seen on a chain has no address.
    ...(untied === 0n
      ? {}
      : { untied: untied.toString(), addresses: `${addresses}`, ...(address !== null && { address }) }),
  }
}

/** Findings of the last audit except unbalanced sums, in units of each asset; 0 if there are none. */
export async function untiedUnits(
  db: Kysely<Tables>,
): Promise<{ control: string; asset: string; units: number }[]> {
  const { rows } = await sql<{ control: string; asset: string; units: number }>`
    select control, a.key as asset, accounting.in_units(coalesce(amount::numeric, 0), a.decimals)::float8 as units
    from asset a left join mismatch m on m.asset = a.key and m.kind = ${ledgerImbalance} and m.cleared_at is null and m.resolved_at is null
      cross join lateral (values ('in_transit', m.detail ->> 'left'), ('tie_out', m.detail ->> 'untied')) as found (control, amount)
    order by a.key, control`.execute(db)
  return rows
}

export type BooksCheckResult = {
  subject: string
  detail: Readonly<Record<string, string>>
  faults: readonly string[]
}

export function syncChecked(
  tx: Transaction<Tables>,
  kind: MismatchKind,
  checked: readonly BooksCheckResult[],
): Promise<MismatchChange[]> {
  const failed = checked.filter(({ faults }) => faults.length > 0)
  const held = failed.map(({ subject, detail, faults }) => ({
    subject,
    kind,
    detail: { ...detail, found: faults.join('; ') },
  }))
  const subjects = checked.map(({ subject }) => subject)
  return syncMismatches(tx, sql`kind = ${kind} and subject = any(${subjects}::text[])`, held)
}
