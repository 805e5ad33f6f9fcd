import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { DecidedRow } from '../people/decided-row.ts'
import type { DecisionContent, JsonValue } from '../people/decision.ts'
import type { DecisionEvent, DecisionState, StoredDecision } from '../people/register.ts'
import { inPieces } from './database.ts'
import { endOfText, entryOfText } from './signed-entries.ts'
import type { Tables } from './tables.ts'

/** In the order of their numbers. */
export async function readDecisions(
  db: Kysely<Tables>,
  which: { kind: string } | { id: bigint } | { aboutPeopleOr: readonly string[] } | 'all',
): Promise<StoredDecision[]> {
  const filter = filterOf(which)
  const { rows } = await sql<
    Omit<StoredDecision, 'events'> & { events: (Omit<DecisionEvent, 'id'> & { id: string })[] }
  >`
    select d.id, d.uuid, d.kind, d.people, d.text, coalesce((
      select jsonb_agg(jsonb_build_object('id', e.id::text, 'action', e.action, 'person', e.person, 'signature', e.signature)
        order by e.id) from decision_event e where e.decision_id = d.id), '[]') as events
    from decision d where ${filter} order by d.id`.execute(db)
  return rows.map(({ events, ...row }) => ({
    ...row,
    events: events.map(({ id, ...event }) => ({ id: BigInt(id), ...event })),
  }))
}

/** `aboutPeopleOr` also takes the decisions with these ids of their texts. */
function filterOf(which: Parameters<typeof readDecisions>[1]): RawBuilder<unknown> {
  if (which === 'all') return sql`true`
  if ('kind' in which) return sql`d.kind = ${which.kind}`
  if ('id' in which) return sql`d.id = ${which.id}`
  return sql`(d.kind = 'person' or d.uuid::text = any(${which.aboutPeopleOr}::text[]))`
}

/** Until the transaction ends, no other one adds to any decision. */
export async function lockDecisions(tx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('decisions'))`.execute(tx)
}

export async function insertDecision(
  tx: Transaction<Tables>,
  { decision, kind, people }: Pick<DecisionContent, 'decision' | 'kind' | 'people'>,
  text: string,
): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    with requested as (
      insert into decision (uuid, kind, people, text) values (${decision}, ${kind}, ${people}, ${text}) returning *
    ), recorded as (
      insert into event_pending (type, data)
      select 'approval.requested', jsonb_build_object('decision', id::text, 'kind', kind) from requested where people > 1
    )
    select id from requested`.execute(tx)
  return rows[0]?.id ?? 0n
}

export async function insertDecisionEvent(
  tx: Transaction<Tables>,
  decisionId: bigint,
  { action, person, signature, reason = null }: Omit<DecisionEvent, 'id'> & { reason?: string | null },
): Promise<void> {
  await sql`
    insert into decision_event (decision_id, action, person, signature, reason)
    values (${decisionId}, ${action}, ${person}, ${signature}, ${reason})`.execute(tx)
}

/** Columns of `accounting.decisions`. */
export type DecisionLine = {
  id: bigint
  kind: string
  state: DecisionState
  people: number
  requested_by: string | null
  requested_at: Date
  approved_by: string | null
  decided_at: Date | null
  reason: string | null
}

/** Newest first, with a lower id than `before`. */
export async function listDecisions(
  db: Kysely<Tables>,
  { state, before, limit }: { state: DecisionState | null; before: bigint | null; limit: number },
): Promise<DecisionLine[]> {
  const { rows } = await sql<DecisionLine>`
    select id, kind, state, people, requested_by, requested_at, approved_by, decided_at, reason
    from accounting.decisions
    where (${state}::text is null or state = ${state}) and (${before}::bigint is null or id < ${before})
    order by id desc limit ${limit}`.execute(db)
  return rows
}

const digestOfEvidence = sql`encode(sha256(convert_to(
  string_agg(i.id || ' ' || encode(sha256(i.body), 'hex'), E'\\n' order by i.id), 'UTF8')), 'hex')`

/** SHA-256 over all evidence of the groups of these deposits; null if there is none. */
export async function evidenceOfDeposits(db: Kysely<Tables>, ids: readonly bigint[]): Promise<string | null> {
  const { rows } = await sql<{ digest: string | null }>`
    select ${digestOfEvidence} as digest
    from evidence e join inbox i on i.id = e.inbox_id
    where e.group_id in (select group_id from deposit where id = any(${ids}::bigint[]))`.execute(db)
  return rows[0]?.digest ?? null
}

/** SHA-256 over all evidence of the group with this chain transfer. */
export async function evidenceOfTransfer(db: Kysely<Tables>, transfer: string): Promise<string | null> {
  const { rows } = await sql<{ digest: string | null }>`
    select ${digestOfEvidence} as digest from evidence e join inbox i on i.id = e.inbox_id
    where e.group_id in (
      select e2.group_id from chain_transfer c join evidence e2 on e2.inbox_id = c.inbox_id where c.transfer = ${transfer}
    )`.execute(db)
  return rows[0]?.digest ?? null
}

/** Of the journal `j` of a statement, as in the text that people sign. The key of a journal about a transfer names that. */
const journalOfText = sql`jsonb_build_object('key', j.posting_key, 'period', j.period,
  'event_at', to_char(j.event_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'deposit', case when j.transfer is null then j.deposit_id::text end,
  'transfers', (
    select jsonb_agg(jsonb_build_object('debit', t.debit, 'credit', t.credit, 'asset', t.asset, 'amount', t.amount::text)
      order by t.leg) from ledger_transfer t where t.journal_id = j.id))`

/** Of the group of that inbox row, which this transaction has locked, with higher ids. */
export async function journalsAfter(tx: Transaction<Tables>, id: bigint, inboxId: bigint): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select j.id from ledger_journal j
    where j.id > ${id} and j.deposit_id in (
      select id from deposit where group_id = (select group_id from evidence where inbox_id = ${inboxId})
    ) order by j.id`.execute(tx)
  return rows.map((row) => row.id)
}

export async function journalTexts(tx: Transaction<Tables>, ids: readonly bigint[]): Promise<JsonValue[]> {
  const { rows } = await sql<{ text: JsonValue }>`
    select ${journalOfText} as text from ledger_journal j where j.id = any(${ids}::bigint[]) order by j.id`.execute(
    tx,
  )
  return rows.map(({ text }) => text)
}

/** The journals that a decision about a deposit booked, by a person alone or by two. */
export async function nameDeciders(
  tx: Transaction<Tables>,
  ids: readonly bigint[],
  {
    decision,
    by,
    approvedBy,
    reason,
  }: { decision: bigint | null; by: string; approvedBy: string | null; reason: string },
): Promise<void> {
  await sql`
    insert into manual_journal (journal_id, decision_id, reason, made_by, approved_by)
    select id, ${decision}::bigint, ${reason}, ${by}, ${approvedBy} from unnest(${ids}::bigint[]) as id`.execute(
    tx,
  )
}

const ofEvidence = sql`
      union all
      select 'inbox row ' || i.id, d.id, said ->> 'by', said ->> 'approvedBy', said ->> 'reason',
        jsonb_build_object('role', said ->> 'role', 'transfer', concat_ws('/', said ->> 'network', said ->> 'tx', said ->> 'index'),
          'to', said ->> 'to', 'verdict', said -> 'verdict')
      from inbox i cross join lateral (select convert_from(i.body, 'UTF8')::jsonb as said) as body
        left join decision d on d.uuid::text = i.source_key
      where i.source = 'person' and said ->> 'by' <> 'policy'`

const ofAddresses = sql`
      union all
      select 'owner ' || kind || '/' || id, decision_id, added_by, approved_by, null, jsonb_build_object(
        'owner', kind || '/' || id, 'forward', case when forward_network is not null then jsonb_build_object(
          'network', forward_network, 'asset', forward_asset, 'recipient', forward_recipient) end)
      from owner where added_by <> 'depositd'
      union all
      select 'address ' || id, decision_id, added_by, approved_by, null, ${entryOfText(sql`valid_from`, [
        sql`owner_kind`,
        sql`owner_id`,
      ])}
      from address_book where added_by <> 'depositd'
      union all
      select 'end ' || e.id || ' of an address', e.decision_id, e.ended_by, e.approved_by, e.reason, ${endOfText(sql`e.valid_until`)}
      from address_end e join address_book b on b.id = e.address_id`

/** The event `e` resolves a possible loss by itself: a write-off also resolves its mismatch. */
const resolvesLoss = sql`e.action = 'resolved' and may_be_lost((e.after ->> 'loss')::numeric, m.severity)
        and not exists (
          select from mismatch_event w where w.mismatch_id = e.mismatch_id and w.action = 'written_off' and w.at = e.at
            and w.decision_id is not distinct from e.decision_id
        )`

const ofMismatches = sql`
      union all
      select 'mismatch event ' || e.id, e.decision_id, e.actor, e.approved_by, e.text,
        jsonb_build_object('mismatch', m.id::text, 'kind', m.kind, 'subject', m.subject) || e.after
      from mismatch_event e join mismatch m on m.id = e.mismatch_id
      where ${resolvesLoss}`

const isAfterPeople = sql`exists (
        select from decision_event e join decision d on d.id = e.decision_id where d.kind = 'person' and e.at < r.since
      )`

/** Rule sets since there are people. */
const ofRules = sql`
      union all
      select 'rule set ' || id, decision_id, coalesce(requested_by, ''), approved_by, null,
        jsonb_build_object('rules', digest, 'replaces', replaces)
      from (
        select *, lag(digest) over (order by id) as replaces
        from (select *, encode(sha256(convert_to(rules, 'UTF8')), 'hex') as digest from rule_set) as each
      ) as r where ${isAfterPeople}`

/** Numbers of mismatches that may be losses, and that no person resolved. */
export async function undecidedResolutions(tx: Transaction<Tables>): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select m.id from mismatch m
    where m.resolved_at is not null and may_be_lost(m.loss_amount, m.severity) and not exists (
      select from mismatch_event e where e.mismatch_id = m.id and e.action = 'resolved' and e.actor = m.resolved_by
    ) order by m.id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** True if the login of this connection may write decisions. */
export async function mayDecide(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select pg_has_role(session_user, 'depositd_decider', 'member') as may`.execute(db)
  return rows[0]?.may ?? false
}

/** Accountants may not. */
export async function mayReadEvidence(tx: Transaction<Tables>): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`select has_table_privilege('inbox', 'select') as may`.execute(
    tx,
  )
  return rows[0]?.may ?? false
}

/** Journals that people decided, changes of months and, for a login that may read evidence, decisions about deposits. */
export async function* decidedRows(tx: Transaction<Tables>): AsyncGenerator<DecidedRow[]> {
  const canRead = await mayReadEvidence(tx)
  yield* inPieces(
    tx,
    sql<DecidedRow>`
      select 'journal ' || j.id as what, m.decision_id as decision, m.made_by as by, m.approved_by as "approvedBy", m.reason,
        ${journalOfText} as books
      from manual_journal m join ledger_journal j on j.id = m.journal_id
      ${canRead ? sql`${ofEvidence}${ofAddresses}${ofMismatches}` : sql``}
      union all
      select 'period event ' || id, decision_id, actor, approved_by, reason, jsonb_build_object(
        'period', to_char(period, 'YYYY-MM'), 'action', action, 'balance', sha256)
      from ledger_period_event
      ${canRead ? ofRules : sql``}`,
  )
}

/** Numbers of write-offs that no person decided, or of another amount, asset or account than was decided. */
export async function undecidedWriteOffs(tx: Transaction<Tables>): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select j.id from ledger_journal j
    where j.kind = 'write_off' and not exists (select from ledger_journal r where r.reverses = j.id)
      and not is_write_off_decided(j.id, j.transfer)
    order by j.id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Decisions of the last 24 hours without signatures. One about a deposit is an inbox row. */
export async function countUnsigned(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (
      select count(*) from manual_journal m join ledger_journal j on j.id = m.journal_id
      where m.decision_id is null and j.transfer is null and j.recorded_at > now() - interval '1 day'
    )::int + (
      select count(*) from ledger_period_event where decision_id is null and at > now() - interval '1 day'
    )::int + (
      select count(*) from inbox i
      where i.source = 'person' and i.stored_at > now() - interval '1 day' and i.source_key not like 'policy/%'
        and not exists (select from decision d where d.uuid::text = i.source_key)
    )::int + (
      select count(*) from address_book
      where decision_id is null and added_by <> 'depositd' and added_at > now() - interval '1 day'
    )::int + (
      select count(*) from mismatch_event e join mismatch m on m.id = e.mismatch_id
      where e.decision_id is null and e.at > now() - interval '1 day' and ${resolvesLoss}
    )::int + (
      select count(*) from address_end where decision_id is null and at > now() - interval '1 day'
    )::int + (
      select count(*) from rule_set r where decision_id is null and since > now() - interval '1 day' and ${isAfterPeople}
    )::int as count`.execute(db)
  return rows[0]?.count ?? 0
}
