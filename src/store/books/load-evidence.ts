import { type Kysely, sql, type Transaction } from 'kysely'
import { decodeObservation, isByPolicy, type Observation, type ServiceName } from '../../core/evidence.ts'
import type { Approval } from '../../core/matching/divide.ts'
import type { StoredDecision } from '../../people/register.ts'
import { asTable } from '../database.ts'
import { readDecisions } from '../decisions.ts'
import type { Tables } from '../tables.ts'
import { type LoadedGroup, loadGroups } from './evidence.ts'

export type Copies = { count: bigint; firstAt: Date; lastAt: Date; newestAt: Date[] }

export type EvidenceRow = {
  inboxId: bigint
  service: ServiceName
  source: 'webhook' | 'api' | 'chain' | 'person'
  sourceKey: string
  headers: Record<string, string>
  body: Buffer
  receivedAt: Date
  storedAt: Date
  /** Later than `storedAt` if the profile had to be fixed first. */
  readableAt: Date
  copies: Copies | null
  observation: Observation
}

export type GroupMismatch = {
  depositId: bigint | null
  subject: string
  kind: string
  severity: string
  detail: Record<string, string>
  openedAt: Date
  clearedAt: Date | null
  clearedHow: string | null
  /** Files that people attached; their content is not evidence. */
  attachments: { name: string; bytes: number; sha256: string; addedBy: string; at: string }[]
}

export type GroupDeposit = { id: bigint; mergedInto: bigint | null; createdAt: Date }

export type GroupEvidence = {
  group: LoadedGroup
  rows: readonly EvidenceRow[]
  deposits: readonly GroupDeposit[]
  mismatches: readonly GroupMismatch[]
  /** By posting key. */
  recordedAt: ReadonlyMap<string, Date>
  /** The entries of the address book as they were, oldest first: when added, and after each decision about their end. */
  approvals: readonly { approval: Approval; knownAt: Date }[]
  /** Those that people made about it, and those about the people; none if no person decided. */
  decisions: readonly StoredDecision[]
}

/** In one consistent snapshot; null if the group does not exist. */
export function loadEvidence(db: Kysely<Tables>, groupId: bigint): Promise<GroupEvidence | null> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const [group] = await loadGroups(tx, [groupId])
      if (group === undefined) return null
      const rows = await rowsOf(tx, groupId)
      return {
        group: { ...group, observations: rows.map(({ observation }) => observation) },
        rows,
        deposits: await depositsOf(tx, groupId),
        mismatches: await mismatchesOf(tx, groupId),
        recordedAt: await journalTimes(tx, group),
        approvals: await datedApprovals(tx, group),
        decisions: await decisionsOf(tx, rows),
      }
    })
}

async function decisionsOf(
  tx: Transaction<Tables>,
  rows: readonly EvidenceRow[],
): Promise<readonly StoredDecision[]> {
  const decided = rows.flatMap(({ observation, sourceKey }) =>
    observation.kind === 'decision' && !isByPolicy(observation) ? [sourceKey] : [],
  )
  return decided.length === 0 ? [] : readDecisions(tx, { aboutPeopleOr: decided })
}

type EvidenceTextRow = Omit<EvidenceRow, 'observation' | 'copies'> & { text: string } & {
  [name in keyof Copies]: Copies[name] | null
}

async function rowsOf(tx: Transaction<Tables>, groupId: bigint): Promise<EvidenceRow[]> {
  const { rows } = await sql<EvidenceTextRow>`
    with mended as (
      select subject, max(cleared_at) as at from mismatch
      where kind in ('unknown_event', 'unknown_status', 'schema_drift')
        and subject in (select 'inbox/' || inbox_id from evidence where group_id = ${groupId})
      group by subject
    )
    select i.id as "inboxId", i.service, i.source, i.source_key as "sourceKey", i.headers, i.body, i.received_at as "receivedAt",
      i.stored_at as "storedAt", greatest(i.stored_at, mended.at) as "readableAt",
      r.count, r.first_at as "firstAt", r.last_at as "lastAt", r.newest_at as "newestAt", e.observation::text as text
    from evidence e join inbox i on i.id = e.inbox_id left join webhook_repeat r on r.inbox_id = i.id
      left join mended on mended.subject = 'inbox/' || i.id
    where e.group_id = ${groupId} order by i.id`.execute(tx)
  return rows.map(({ text, count, firstAt, lastAt, newestAt, ...row }) => ({
    ...row,
    copies:
      count === null || firstAt === null || lastAt === null
        ? null
        : { count, firstAt, lastAt, newestAt: newestAt ?? [] },
    observation: decodeObservation(text),
  }))
}

async function depositsOf(tx: Transaction<Tables>, groupId: bigint): Promise<GroupDeposit[]> {
  const { rows } = await sql<GroupDeposit>`
    select id, merged_into as "mergedInto", created_at as "createdAt" from deposit
    where group_id = ${groupId} order by id`.execute(tx)
  return rows
}

async function mismatchesOf(tx: Transaction<Tables>, groupId: bigint): Promise<GroupMismatch[]> {
  const { rows } = await sql<GroupMismatch>`
    select deposit_id as "depositId", subject, kind, severity, detail, opened_at as "openedAt",
      cleared_at as "clearedAt", cleared_how as "clearedHow", coalesce((
        select jsonb_agg(jsonb_build_object('name', a.name, 'bytes', octet_length(a.content), 'sha256', a.sha256,
          'addedBy', a.added_by, 'at', a.at) order by a.id)
        from mismatch_attachment a where a.mismatch_id = mismatch.id
      ), '[]') as attachments
    from mismatch where group_id = ${groupId} order by id`.execute(tx)
  return rows
}

async function journalTimes(
  tx: Transaction<Tables>,
  { journals }: LoadedGroup,
): Promise<GroupEvidence['recordedAt']> {
  const { rows } = await sql<{ key: string; at: Date }>`
    select posting_key as key, recorded_at as at from ledger_journal
    where posting_key = any(${journals.map(({ key }) => key)}::text[])`.execute(tx)
  return new Map(rows.map(({ key, at }) => [key, at]))
}

async function datedApprovals(
  tx: Transaction<Tables>,
  { approvals }: LoadedGroup,
): Promise<GroupEvidence['approvals']> {
  const { rows } = await sql<{ network: string; address: string; knownAt: Date; endsAt: Date | null }>`
    with entry as (
      select id, network, address, added_at
      from address_book join ${asTable('approved', approvals, 'network text, address text')} using (network, address)
      where role = 'deposit'
    )
    select network, address, added_at as "knownAt", null::timestamptz as "endsAt" from entry
    union all
    select network, address, e.at, e.valid_until from entry join address_end e on e.address_id = entry.id
    order by "knownAt"`.execute(tx)
  return rows.flatMap(({ network, address, knownAt, endsAt }) =>
    approvals
      .filter((one) => one.network === network && one.address === address)
      .map((approval) => ({ approval: { ...approval, endsAt }, knownAt })),
  )
}
