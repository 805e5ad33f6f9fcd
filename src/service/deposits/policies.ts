import { sql } from 'kysely'
import type { OwnerKind, ServiceDatabase } from '../tables.ts'
import type { Policy } from './policy.ts'

type OwnerName = { kind: OwnerKind; id: string }

export type StoredPolicy = { policy: Policy; updatedAt: Date }

/** `none`: the owner exists, and nothing overrides what becomes of its deposits. */
export type PolicyOutcome = ({ kind: 'found' } & StoredPolicy) | { kind: 'none' } | { kind: 'owner_unknown' }

export async function getPolicy(db: ServiceDatabase, owner: OwnerName): Promise<PolicyOutcome> {
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
  return updatedAt === null ? { kind: 'none' } : { kind: 'found', policy: body as Policy, updatedAt }
}

/** Puts this policy in the place of any other. It holds for every deposit that is not delivered, held or refunded yet. */
export async function putPolicy(
  db: ServiceDatabase,
  owner: OwnerName,
  policy: Policy,
): Promise<PolicyOutcome> {
  const { rows } = await sql<{ updated_at: Date }>`
    insert into service.policy (owner_kind, owner_id, body)
    select kind, id, ${JSON.stringify(policy)}::jsonb from service.owner
    where kind = ${owner.kind} and id = ${owner.id}
    on conflict (owner_kind, owner_id) do update set body = excluded.body, updated_at = clock_timestamp()
    returning updated_at`.execute(db)
  const [row] = rows
  return row === undefined ? { kind: 'owner_unknown' } : { kind: 'found', policy, updatedAt: row.updated_at }
}

/** Deposits that the policy holds stay held until they are released or refunded. */
export async function deletePolicy(db: ServiceDatabase, owner: OwnerName): Promise<PolicyOutcome> {
  await db
    .deleteFrom('service.policy')
    .where('owner_kind', '=', owner.kind)
    .where('owner_id', '=', owner.id)
    .execute()
  return getPolicy(db, owner)
}
