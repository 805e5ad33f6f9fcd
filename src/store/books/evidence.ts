import { sql, type Transaction } from 'kysely'
import { encodeObservation, type Observation } from '../../core/evidence.ts'
import type { Tables } from '../tables.ts'

export type LinkedObservation = { inboxId: bigint; groupId: bigint; observation: Observation }

/** Stores the observations of inbox rows. Applying a row again changes only its group. */
export async function saveEvidence(
  tx: Transaction<Tables>,
  linked: readonly LinkedObservation[],
): Promise<void> {
  const observations = linked.map(({ observation }) => encodeObservation(observation))
  await sql`
    insert into evidence (inbox_id, group_id, observation)
    select * from rows from (
      unnest(${linked.map(({ inboxId }) => inboxId)}::bigint[], ${linked.map(({ groupId }) => groupId)}::bigint[]),
      jsonb_array_elements(${`[${observations.join(',')}]`}::jsonb)
    ) as linked (inbox_id, group_id, observation)
    on conflict (inbox_id) do update set group_id = excluded.group_id`.execute(tx)
}
