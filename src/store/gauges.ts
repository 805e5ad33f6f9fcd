import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { OpenCase } from '../core/cause.ts'
import { untiedUnits } from './books/books-audit.ts'
import { unexplainedUnits } from './chain/balance-differences.ts'
import { secondsUnsealed } from './ledger/seals.ts'
import { readAlone } from './read-alone.ts'
import type { Tables } from './tables.ts'

/** Open and waiting work, from the database: the same for every replica. Ages are in seconds. */
export type StoreGauges = {
  inbox: { pending: number; oldest: number }
  /** Number of quarantined deliveries. */
  quarantine: number
  stages: StageGauge[]
  /** By kind, severity, network and age. */
  mismatches: {
    kind: string
    severity: string
    network: string
    age: string
    count: number
    oldest: number
  }[]
  atRisk: { asset: string; severity: string; units: number }[]
  /** Open mismatches. Similar ones of the same minute are grouped. */
  cases: OpenCases[]
  /** How long the oldest journal has waited for its seal. */
  sealAge: number
  /** Findings of the audit other than unbalanced sums. */
  untied: { control: string; asset: string; units: number }[]
  /** Unexplained changes of balances, summed without signs. */
  unexplained: { network: string; asset: string; units: number }[]
  streams: { name: string; age: number; progress: Record<string, number> }[]
}

/** `unnamed` is the age of the oldest deposit without an uncleared mismatch; null if there is none. */
type StageGauge = { stage: string; network: string; oldest: number; unnamed: number | null }

/** Reads open and waiting work: few rows, however much is stored. */
export function readGauges(db: Kysely<Tables>): Promise<StoreGauges> {
  return readAlone(db, async (tx) => {
    const inbox = await readInbox(tx)
    const { oldest } = inbox
    const applying = inbox.pending === 0 ? [] : [{ stage: 'apply', network: '', oldest, unnamed: oldest }]
    const quarantine = await sql<{ count: number }>`select count(*)::int as count from quarantine`.execute(tx)
    const atRisk = await sql<StoreGauges['atRisk'][number]>`
      select asset, severity, amount::float8 as units from accounting.value_at_risk`.execute(tx)
    const streams = await sql<StoreGauges['streams'][number]>`
      select name, ${age(sql`succeeded_at`)} as age, progress from stream where succeeded_at is not null`.execute(
      tx,
    )
    return {
      inbox,
      quarantine: quarantine.rows[0]?.count ?? 0,
      stages: [...applying, ...(await readStages(tx))],
      mismatches: await readMismatches(tx),
      atRisk: atRisk.rows,
      cases: await readCases(tx),
      sealAge: await secondsUnsealed(tx),
      untied: await untiedUnits(tx),
      unexplained: await unexplainedUnits(tx),
      streams: streams.rows,
    }
  })
}

async function readInbox(db: Kysely<Tables>): Promise<StoreGauges['inbox']> {
  const { rows } = await sql<StoreGauges['inbox']>`
    select count(*)::int as pending, ${age(sql`min(stored_at)`)} as oldest from inbox_pending`.execute(db)
  return rows[0] ?? { pending: 0, oldest: 0 }
}

async function readMismatches(db: Kysely<Tables>): Promise<StoreGauges['mismatches']> {
  const { rows } = await sql<StoreGauges['mismatches'][number]>`
    select kind, severity, coalesce(network, '') as network, count(*)::int as count,
      ${age(sql`min(opened_at)`)} as oldest,
      case when opened_at > now() - interval '1 hour' then 'under_1h'
        when opened_at > now() - interval '24 hours' then 'under_24h'
        when opened_at > now() - interval '3 days' then 'under_3d'
        when opened_at > now() - interval '7 days' then 'under_7d'
        when opened_at > now() - interval '30 days' then 'under_30d' else 'older' end as age
    from mismatch where cleared_at is null and resolved_at is null
    group by kind, severity, network, 6`.execute(db)
  return rows
}

/** Similar means the same kind, network, minute, assignment and snooze. Losses of one asset are added up. */
export type OpenCases = OpenCase & { count: number }

type CaseRow = Omit<OpenCases, 'loss'> & {
  lossAsset: string | null
  symbol: string | null
  decimals: number | null
  amount: string | null
}

/** Grouping by minute separates causes, and keeps the rows few however many mismatches are open. */
async function readCases(db: Kysely<Tables>): Promise<OpenCases[]> {
  const { rows } = await sql<CaseRow>`
    select kind, coalesce(m.network, '') as network, date_trunc('minute', opened_at) as "openedAt",
      assigned_to is not null as "isAssigned", snoozed_until as "snoozedUntil", count(*)::int as count,
      loss_asset as "lossAsset", a.symbol, a.decimals, sum(loss_amount)::text as amount
    from mismatch m left join asset a on a.key = m.loss_asset
    where cleared_at is null and resolved_at is null
    group by kind, m.network, 3, 4, snoozed_until, loss_asset, a.symbol, a.decimals`.execute(db)
  return rows.map(({ lossAsset, symbol, decimals, amount, ...row }) => {
    const network = lossAsset?.split('/')[0]
    const loss = network === undefined ? null : { network, symbol, decimals, amount: BigInt(amount ?? 0) }
    return { ...row, loss }
  })
}

/**
 * Per network and stage, how long the oldest deposit has waited for that stage to complete. Reads each open deposit
 * once.
 */
async function readStages(db: Kysely<Tables>): Promise<StoreGauges['stages']> {
  const { rows } = await sql<StoreGauges['stages'][number]>`
    with waiting as (
      select network,
        exists (select from mismatch m where m.deposit_id = deposit.id and m.cleared_at is null) as is_named,
        min(unreported_since) as delivery,
        min(coalesce(deposited_at, webhook_at)) filter (where api_at is null) as api_detection,
        min(least(webhook_at, api_at)) filter (where chain_at is null) as chain_detection,
        min(deposited_at) filter (where final_at is null) as finality,
        min(final_at) filter (where settled_at is null) as settlement,
        min(coalesce(deposited_at, least(webhook_at, api_at))) as reconciliation
      from deposit
      where state in ('observed', 'confirmed', 'settling', 'settled') and merged_into is null
        and network is not null and (settled_at is not null or id not in (
          select w.deposit_id from ledger_journal w where w.kind = 'write_off' and w.deposit_id is not null
            and not exists (select from ledger_journal r where r.reverses = w.id)
        ))
      group by network, is_named
    )
    select stage, network, max(${age(sql`since`)}) as oldest,
      max(${age(sql`since`)}) filter (where not is_named) as unnamed
    from waiting, lateral (values
      ('delivery', delivery), ('api_detection', api_detection), ('chain_detection', chain_detection),
      ('finality', finality), ('settlement', settlement), ('reconciliation', reconciliation)
    ) as of_network (stage, since)
    where since is not null
    group by stage, network`.execute(db)
  return rows
}

function age(since: RawBuilder<unknown>) {
  return sql`coalesce(greatest(extract(epoch from now() - ${since}), 0), 0)::float8`
}
