import { sql } from 'kysely'
import { inTransaction } from '../../store/database.ts'
import type { OwnerKind, ServiceDatabase, ServiceTransaction } from '../tables.ts'
import type { OwnerPolicy } from './policy.ts'

type PolicyOwner = { kind: OwnerKind; id: string }

export type StoredPolicy = { policy: OwnerPolicy; updatedAt: Date }

/** `none`: the owner exists and has no policy. */
export type PolicyOutcome = ({ kind: 'found' } & StoredPolicy) | { kind: 'none' } | { kind: 'owner_unknown' }

export async function getPolicy(db: ServiceDatabase, owner: PolicyOwner): Promise<PolicyOutcome> {
  const row = await db
    .selectFrom('service.owner as owner')
    .leftJoin('service.policy as policy', (join) =>
      join.onRef('policy.owner_kind', '=', 'owner.kind').onRef('policy.owner_id', '=', 'owner.id'),
    )
    .select(['policy.body', 'policy.updated_at'])
    .where('owner.kind', '=', owner.kind)
    .where('owner.id', '=', owner.id)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'owner_unknown' }
  const { body, updated_at: updatedAt } = row
  return updatedAt === null ? { kind: 'none' } : { kind: 'found', policy: body as OwnerPolicy, updatedAt }
}

/**
 * Replaces the owner's policy. Once the request is answered, the policy applies to every deposit that is not converting
 * or credited yet.
 */
export function putPolicy(
  db: ServiceDatabase,
  owner: PolicyOwner,
  policy: OwnerPolicy,
): Promise<PolicyOutcome> {
  return inTransaction(db, async (tx): Promise<PolicyOutcome> => {
    await lockOwner(tx, owner)
    const { rows } = await sql<{ updated_at: Date }>`
      insert into service.policy (owner_kind, owner_id, body)
      select kind, id, ${JSON.stringify(policy)}::jsonb from service.owner
      where kind = ${owner.kind} and id = ${owner.id}
      on conflict (owner_kind, owner_id) do update set body = excluded.body, updated_at = clock_timestamp()
      returning updated_at`.execute(tx)
    const [row] = rows
    return row === undefined
      ? { kind: 'owner_unknown' }
      : { kind: 'found', policy, updatedAt: row.updated_at }
  })
}

/** Deletes the owner's policy. Deposits that it holds stay held until they are released or refunded. */
export function deletePolicy(db: ServiceDatabase, owner: PolicyOwner): Promise<PolicyOutcome> {
  return inTransaction(db, async (tx) => {
    await lockOwner(tx, owner)
    await tx
      .deleteFrom('service.policy')
      .where('owner_kind', '=', owner.kind)
      .where('owner_id', '=', owner.id)
      .execute()
    return getPolicy(tx, owner)
  })
}

/** Locks the owners of these deposits, so that their policies cannot change until the decisions commit. */
export async function lockPolicies(tx: ServiceTransaction, depositIds: readonly string[]): Promise<void> {
  await sql`
    select from service.owner
    where (kind, id) in (select owner_kind, owner_id from service.deposit where id = any(${depositIds}))
    order by kind, id for share`.execute(tx)
}

/** Waits until decisions under this owner's policy have committed. */
async function lockOwner(tx: ServiceTransaction, { kind, id }: PolicyOwner): Promise<void> {
  await sql`select from service.owner where kind = ${kind} and id = ${id} for no key update`.execute(tx)
}
