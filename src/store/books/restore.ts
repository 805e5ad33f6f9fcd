import { sql, type Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { encodeObservation } from '../../core/evidence.ts'
import type { ByHand, LedgerJournalKind } from '../ledger/journals.ts'
import type { Tables } from '../tables.ts'
import { recordMerged } from './deposits.ts'
import type { LinkedObservation } from './evidence.ts'

/** Groups that something stored belongs to, and that are gone. */
export async function reviveGroups(tx: Transaction<Tables>): Promise<void> {
  await sql`
    insert into evidence_group (id) overriding system value
    select group_id from (
      select group_id from link_key union select group_id from evidence union select group_id from deposit
      union select group_id from withdrawal
    ) as named
    where group_id is not null and not exists (select from evidence_group g where g.id = group_id)`.execute(
    tx,
  )
}

export async function countStored(tx: Transaction<Tables>, inboxIds: readonly bigint[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from evidence where inbox_id = any(${inboxIds}::bigint[])`.execute(tx)
  return rows[0]?.count ?? 0
}

/**
 * Of stored observations.
 * @returns how many said something else
 * @throws Fault `settings_bad` if there are any, and the login does not own the tables
 */
export async function correctEvidence(
  tx: Transaction<Tables>,
  linked: readonly LinkedObservation[],
): Promise<number> {
  await sql`select set_config('depositd.restoring', 'on', true)`.execute(tx)
  const observations = linked.map(({ observation }) => encodeObservation(observation))
  const { numAffectedRows } = await sql`
    update evidence e set observation = made.observation
    from rows from (
      unnest(${linked.map(({ inboxId }) => inboxId)}::bigint[]), jsonb_array_elements(${`[${observations.join(',')}]`}::jsonb)
    ) as made (inbox_id, observation)
    where e.inbox_id = made.inbox_id and e.observation is distinct from made.observation`
    .execute(tx)
    .catch(explainRefusal)
  return Number(numAffectedRows ?? 0n)
}

function explainRefusal(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === insufficientPrivilege)) throw error
  const faults = ['observations were altered, and only the owner of the tables can correct them']
  const fix = 'use the login that owns the database, and run the restore again'
  throw new Fault('settings_bad', { faults, fix }, { cause: error })
}

const insufficientPrivilege = '42501'

/** @returns at most `limit` groups with evidence, in order */
export async function groupsAfter(tx: Transaction<Tables>, after: bigint, limit: number): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select distinct group_id as id from evidence where group_id > ${after} order by id limit ${limit}`.execute(
    tx,
  )
  return rows.map(({ id }) => id)
}

/**
 * Deposits of these groups that are gone get their rows back, by the numbers that their journals name. Those in another
 * group than their evidence join it.
 */
export async function adoptDeposits(tx: Transaction<Tables>, groups: readonly bigint[]): Promise<void> {
  await sql`
    with paid as (
      select distinct e.group_id, c.transfer
      from evidence e join chain_transfer c on c.inbox_id = e.inbox_id and c.role = 'deposit'
      where e.group_id = any(${groups}::bigint[])
    ), lost as (
      select distinct on (j.deposit_id) j.deposit_id as id, p.group_id, p.transfer, j.id as journal
      from paid p join ledger_journal j on j.transfer = p.transfer
      where j.deposit_id is not null and not exists (select from deposit d where d.id = j.deposit_id)
      order by j.deposit_id, j.id desc
    ), heir as (
      select l.*, coalesce(d.id, first_value(l.id) over (partition by l.transfer order by l.journal desc)) as heir
      from lost l left join deposit d on d.transfer = l.transfer
    )
    insert into deposit (id, group_id, transfer, merged_into, state, matrix) overriding system value
    select id, group_id, case when heir = id then transfer end, nullif(heir, id), 'observed', '{}' from heir`.execute(
    tx,
  )
  await sql`
    with named as (
      select e.group_id, c.transfer, e.observation ->> 'serviceId' as service_id
      from evidence e left join chain_transfer c on c.inbox_id = e.inbox_id and c.role = 'deposit'
      where e.group_id = any(${groups}::bigint[])
    ), own as (
      select d.id, n.group_id from named n join deposit d on d.transfer = n.transfer
      union select d.id, n.group_id from named n join deposit d on d.service_id = n.service_id
    ), all_own as (
      select id, group_id from own union select d.id, o.group_id from own o join deposit d on d.merged_into = o.id
    )
    update deposit d set group_id = o.group_id from all_own o where d.id = o.id and d.group_id <> o.group_id`.execute(
    tx,
  )
}

/** Deposits of these groups that no evidence shows become part of one that is shown, if there is any. */
export async function absorbUnshown(
  tx: Transaction<Tables>,
  groups: readonly bigint[],
  shown: readonly bigint[],
): Promise<void> {
  await sql`
    with absorbed as (
      update deposit d set merged_into = heir.id, service_id = null, transfer = null, updated_at = now()
      from (
        select group_id, min(id) as id from deposit where id = any(${shown}::bigint[]) group by group_id
      ) as heir
      where d.group_id = heir.group_id and d.group_id = any(${groups}::bigint[])
        and coalesce(d.merged_into, d.id) <> all(${shown}::bigint[])
      returning d.*
    ) ${recordMerged}`.execute(tx)
}

export type RestoredJournal = {
  id: bigint
  key: string
  kind: LedgerJournalKind
  depositId: bigint | null
  /** Like 2026-01. */
  period: string
  eventAt: Date
}

export async function newestJournal(tx: Transaction<Tables>): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`select coalesce(max(id), 0) as id from ledger_journal`.execute(
    tx,
  )
  return rows[0]?.id ?? 0n
}

/** The journals of this transaction, all with higher ids, get the reason and the people. */
export async function attributeJournals(
  tx: Transaction<Tables>,
  after: bigint,
  { reason, by, approvedBy, decision = null }: ByHand,
): Promise<RestoredJournal[]> {
  const { rows } = await sql<RestoredJournal>`
    with written as (
      insert into manual_journal (journal_id, decision_id, reason, made_by, approved_by)
      select id, ${decision}::bigint, ${reason}, ${by}, ${approvedBy} from ledger_journal
      where id > ${after} and xmin = pg_current_xact_id()::xid
      returning journal_id
    )
    select j.id, j.posting_key as key, j.kind, j.deposit_id as "depositId", to_char(j.period, 'YYYY-MM') as period,
      j.event_at as "eventAt"
    from written join ledger_journal j on j.id = journal_id order by j.id`.execute(tx)
  return rows
}
