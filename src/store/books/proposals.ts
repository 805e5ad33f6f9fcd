import { type Kysely, sql, type Transaction } from 'kysely'
import {
  isByPolicy,
  type ServiceId,
  serviceOf,
  type TransferDecision,
  type TransferRef,
  transferRef,
} from '../../core/evidence.ts'
import type { Proposal, ProposalAmbiguity, RuleResult, UnnamedTransfer } from '../../core/matching/propose.ts'
import { asTable } from '../database.ts'
import { appendObservations } from '../inbox.ts'
import {
  endMismatches,
  type HeldMismatch,
  type MismatchChange,
  syncMismatches,
} from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'

export type UnnamedPage = { mismatchId: bigint; role: UnnamedTransfer['role']; transfer: TransferRef }[]

/** Final and named by no deposit in time; oldest first, after a mismatch id. */
export async function unnamedTransfers(
  tx: Transaction<Tables>,
  { after, countMax }: { after: bigint; countMax: number },
): Promise<UnnamedPage> {
  const { rows } = await sql<UnnamedPage[number]>`
    select mismatch_id as "mismatchId", role, transfer from unnamed_transfer
    where mismatch_id > ${after} and transfer is not null order by mismatch_id limit ${countMax}`.execute(tx)
  return rows
}

export async function withdrawNamed(tx: Transaction<Tables>): Promise<MismatchChange[]> {
  await sql`
    update proposal p set state = 'withdrawn', ended_at = now()
    where state = 'proposed' and not exists (
      select from unnamed_transfer u where u.role = p.role and u.transfer = p.transfer)`.execute(tx)
  return endMismatches(
    tx,
    sql`kind = 'ambiguous_match' and group_id is null and not exists (
      select from unnamed_transfer u where mismatch.subject = 'transfer/' || u.transfer)`,
  )
}

/** Also those of the deposits proposed for these transfers. */
export async function syncProposals(
  tx: Transaction<Tables>,
  page: UnnamedPage,
  proposals: readonly Proposal[],
): Promise<void> {
  const rows = proposals.map(({ transfer, deposit, score, reasons, policy }) => ({
    service_id: deposit.serviceId,
    role: transfer.role,
    transfer: transferRef(transfer),
    score,
    reasons,
    policy,
  }))
  await sql`
    with given as (
      select service_id, role, transfer from jsonb_populate_recordset(null::proposal, ${JSON.stringify(rows)}::jsonb)
    )
    update proposal p set state = 'withdrawn', ended_at = now()
    where state = 'proposed' and (service_id, role, transfer) not in (select service_id, role, transfer from given)
      and ((role, service_id) in (select role, service_id from given) or (role, transfer) in (
        select * from ${asTable('page', page, 'role text, transfer text')}))`.execute(tx)
  await sql`
    insert into proposal as p (service_id, role, transfer, score, reasons, policy)
    select service_id, role, transfer, score, reasons, policy
    from jsonb_populate_recordset(null::proposal, ${JSON.stringify(rows)}::jsonb)
    on conflict (service_id, role, transfer) do update
      set score = excluded.score, reasons = excluded.reasons, policy = excluded.policy, state = 'proposed',
        proposed_at = case p.state when 'proposed' then p.proposed_at else now() end, ended_at = null
      where p.state = 'withdrawn' or (p.state = 'proposed' and (p.score, p.reasons, p.policy)
        is distinct from (excluded.score, excluded.reasons, excluded.policy))`.execute(tx)
}

/** Across all groups. */
export function syncAmbiguities(
  tx: Transaction<Tables>,
  page: UnnamedPage,
  ambiguities: readonly (ProposalAmbiguity & { depositId: bigint | null })[],
): Promise<MismatchChange[]> {
  const held = ambiguities.map(
    ({ transfer, deposits, transfers, depositId }): HeldMismatch => ({
      subject: `transfer/${transferRef(transfer)}`,
      kind: 'ambiguous_match',
      ...onlyServiceOf(deposits),
      depositId,
      network: transfer.network,
      asset: transfer.asset,
      value: transfer.amount,
      detail: { role: transfer.role, deposits: deposits.join(', '), transfers: transfers.join(', ') },
    }),
  )
  const subjects = page.map(({ transfer }) => `transfer/${transfer}`)
  const about = sql`kind = 'ambiguous_match' and group_id is null and subject = any(${subjects}::text[])`
  return syncMismatches(tx, about, held)
}

function onlyServiceOf(deposits: readonly ServiceId[]): Pick<HeldMismatch, 'service'> {
  const [service, ...others] = new Set(deposits.map(serviceOf))
  return service === undefined || others.length > 0 ? {} : { service }
}

/** A policy does not override an end by a person. */
async function endProposals(tx: Transaction<Tables>, decisions: readonly TransferDecision[]): Promise<void> {
  const ended = decisions.flatMap((decision) =>
    'serviceId' in decision.verdict
      ? [
          {
            service_id: decision.verdict.serviceId,
            role: decision.role,
            transfer: transferRef(decision),
            state: decision.verdict.kind === 'together' ? 'accepted' : 'rejected',
            ended_at: decision.receivedAt,
            is_final: !isByPolicy(decision),
          },
        ]
      : [],
  )
  if (ended.length === 0) return
  await sql`
    update proposal p set state = ended.state, ended_at = ended.ended_at
    from jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) as ended (
      service_id text, role text, transfer text, state text, ended_at timestamptz, is_final boolean
    )
    where (p.service_id, p.role, p.transfer) = (ended.service_id, ended.role, ended.transfer)
      and (ended.is_final or p.state = 'proposed')`.execute(tx)
}

export type ProposalLine = {
  id: string
  service: string
  deposit: string
  service_id: string
  role: UnnamedTransfer['role']
  transfer: string
  network: string
  asset_symbol: string
  asset: string
  /** In units of the asset; `_base` in base units. */
  amount: string
  amount_base: string
  score: number
  reasons: RuleResult[]
  policy: string
  proposed_at: Date
}

/** The highest score first, then the oldest, after the id `after`. */
export async function listProposals(
  db: Kysely<Tables>,
  { limit, after, service }: { limit: number; after?: bigint | undefined; service?: string | undefined },
): Promise<ProposalLine[]> {
  const { rows } = await sql<ProposalLine>`
    select p.id::text as id, d.service, d.id::text as deposit, p.service_id, p.role, p.transfer, u.network, coalesce(a.symbol, u.asset) as asset_symbol, u.asset,
      coalesce(accounting.in_units(u.amount, a.decimals), u.amount)::text as amount, u.amount::text as amount_base,
      p.score, p.reasons, p.policy, p.proposed_at
    from proposal p
      join deposit d on d.service_id = p.service_id
      join unnamed_transfer u on u.role = p.role and u.transfer = p.transfer
      left join asset a on a.key = u.asset
    where p.state = 'proposed' and (${service ?? null}::text is null or d.service = ${service ?? null})
      and (${after ?? null}::bigint is null or (-p.score, p.proposed_at, p.id)
      > (select -score, proposed_at, id from proposal where id = ${after ?? null}::bigint))
    order by p.score desc, p.proposed_at, p.id limit ${limit}`.execute(db)
  return rows
}

/**
 * A decision is evidence like any other: applying it does the rest. Ends the proposals about it.
 * @returns the decisions that were not stored before
 */
export async function recordDecisions(
  tx: Transaction<Tables>,
  decisions: readonly TransferDecision[],
): Promise<readonly TransferDecision[]> {
  const keyed = decisions.map((one) => [one.id, one] as const)
  const kept = (await appendObservations(tx, 'person', keyed)).map(({ observation }) => observation)
  await endProposals(tx, kept)
  return kept
}
