import { type Kysely, sql } from 'kysely'
import { untiedUnits } from './books/books-audit.ts'
import { unexplainedUnits } from './chain/balance-differences.ts'
import { countGaps } from './chain/coverage-gaps.ts'
import { secondsUnsealed } from './ledger/seals.ts'
import type { Tables } from './tables.ts'

/** Counts and ages as they stand in the database: the same whichever replica asks. Ages are in seconds. */
export type Gauges = {
  inbox: { pending: number; oldest: number }
  /** Deliveries kept. */
  quarantine: number
  deposits: { state: string; network: string; count: number }[]
  stages: { stage: string; network: string; oldest: number }[]
  mismatches: { kind: string; severity: string; network: string; count: number; oldest: number }[]
  atRisk: { asset: string; severity: string; units: number }[]
  imbalances: { asset: string; units: number }[]
  /** For how long the oldest journal has waited for its seal. */
  sealAge: number
  /** What the audit found wrong, beside sums. */
  untied: { control: string; asset: string; units: number }[]
  /** What balances changed by beyond what is known, added up whichever way they changed. */
  unexplained: { network: string; asset: string; units: number }[]
  /** Stretches of heights that were not read for some watched addresses. */
  coverageGaps: { network: string; stretches: number }[]
  streams: { name: string; age: number; progress: Record<string, number> }[]
}

/** Reads everything that is shown as a gauge, in twelve statements. */
export async function readGauges(db: Kysely<Tables>): Promise<Gauges> {
  const [inbox, quarantine, deposits, stages, mismatches, atRisk, imbalances, reading] = await Promise.all([
    sql<Gauges['inbox']>`
      select count(*)::int as pending, ${age(sql`min(stored_at)`)} as oldest from inbox_pending`.execute(db),
    sql<{ count: number }>`select count(*)::int as count from quarantine`.execute(db),
    sql<Gauges['deposits'][number]>`
      select state, coalesce(network, '') as network, count(*)::int as count from deposit
      where merged_into is null group by state, network`.execute(db),
    readStages(db),
    sql<Gauges['mismatches'][number]>`
      select kind, severity, coalesce(network, '') as network, count(*)::int as count,
        ${age(sql`min(opened_at)`)} as oldest
      from open_mismatch group by kind, severity, network`.execute(db),
    sql<Gauges['atRisk'][number]>`
      select asset, severity, amount::float8 as units from accounting.value_at_risk`.execute(db),
    sql<Gauges['imbalances'][number]>`
      select asset, accounting.in_units(sum(balance), min(decimals))::float8 as units
      from ledger_balance join asset on asset.key = ledger_balance.asset group by asset`.execute(db),
    readReading(db),
  ])
  return {
    inbox: inbox.rows[0] ?? { pending: 0, oldest: 0 },
    quarantine: quarantine.rows[0]?.count ?? 0,
    deposits: deposits.rows,
    stages,
    mismatches: mismatches.rows,
    atRisk: atRisk.rows,
    imbalances: imbalances.rows,
    ...reading,
  }
}

/** How reading goes on, of service and chains, and whether it adds up. */
async function readReading(
  db: Kysely<Tables>,
): Promise<Pick<Gauges, 'streams' | 'sealAge' | 'untied' | 'unexplained' | 'coverageGaps'>> {
  const [streams, sealAge, untied, unexplained, coverageGaps] = await Promise.all([
    sql<Gauges['streams'][number]>`
      select name, ${age(sql`succeeded_at`)} as age, progress from stream where succeeded_at is not null`.execute(
      db,
    ),
    secondsUnsealed(db),
    untiedUnits(db),
    unexplainedUnits(db),
    countGaps(db),
  ])
  return { streams: streams.rows, sealAge, untied, unexplained, coverageGaps }
}

/** Per network and stage, how long the oldest deposit has been waiting for that stage to complete. */
async function readStages(db: Kysely<Tables>): Promise<Gauges['stages']> {
  const { rows } = await sql<Gauges['stages'][number]>`
    select stage, network, ${age(sql`min(since)`)} as oldest
    from deposit, lateral (values
      ('api_detection', case when api_at is null then coalesce(deposited_at, webhook_at) end),
      ('chain_detection', case when chain_at is null then least(webhook_at, api_at) end),
      ('finality', case when final_at is null then deposited_at end),
      ('settlement', case when settled_at is null then final_at end),
      ('reconciliation', coalesce(deposited_at, least(webhook_at, api_at)))
    ) as waiting (stage, since)
    where state in ('observed', 'confirmed', 'settling', 'settled') and merged_into is null
      and network is not null and since is not null
      and not (settled_at is null and exists (
        select from ledger_journal w where w.deposit_id = deposit.id and w.kind = 'write_off'
          and not exists (select from ledger_journal r where r.reverses = w.id)
      ))
    group by stage, network`.execute(db)
  return rows
}

function age(since: ReturnType<typeof sql>) {
  return sql`coalesce(greatest(extract(epoch from now() - ${since}), 0), 0)::float8`
}
