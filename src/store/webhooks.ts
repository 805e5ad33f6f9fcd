import { createHash } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { assert } from '../core/errors.ts'
import { serviceOf } from '../core/evidence.ts'
import { asTable, inTransaction } from './database.ts'
import { appendInbox, type NewInboxRow } from './inbox.ts'
import { type MismatchChange, openMismatches } from './mismatches/mismatches.ts'
import type { Tables } from './tables.ts'

/**
 * `copiesAt`: arrivals of identical copies while it waited to be stored. The key is the sender's event id, without
 * spaces.
 */
export type NewWebhook = Omit<NewInboxRow, 'source'> & { source: 'webhook'; copiesAt: readonly Date[] }

/** `conflicting`: the id is known with another body. It is stored and applied all the same. */
export type WebhookStoreOutcome = 'stored' | 'duplicate' | 'conflicting'

/** One outcome per arrival, in the same order. */
export type StoredWebhooks = {
  outcomes: WebhookStoreOutcome[]
  inboxIds: (bigint | null)[]
  mismatches: MismatchChange[]
}

type WebhookStoreResult = { arrival: NewWebhook; inboxId: bigint; outcome: WebhookStoreOutcome }

/**
 * The keys must be distinct. New webhooks cost one statement. For known keys, the same body counts as a repeat; another
 * becomes a row of its own and a `conflicting_duplicate`.
 */
export async function storeWebhooks(
  db: Kysely<Tables>,
  arrivals: readonly NewWebhook[],
): Promise<StoredWebhooks> {
  const added = await appendInbox(db, arrivals)
  const fresh = arrivals.flatMap((arrival): WebhookStoreResult[] => {
    const inboxId = added.get(arrival.sourceKey)
    return inboxId === undefined ? [] : [{ arrival, inboxId, outcome: 'stored' }]
  })
  const known = arrivals.filter((arrival) => !added.has(arrival.sourceKey))
  if (known.length === 0 && arrivals.every(({ copiesAt }) => copiesAt.length === 0)) {
    return {
      outcomes: arrivals.map(() => 'stored'),
      inboxIds: arrivals.map((arrival) => added.get(arrival.sourceKey) ?? null),
      mismatches: [],
    }
  }
  return inTransaction(db, async (tx) => {
    const same = await idsOf(tx, known)
    const repeated = known.flatMap((arrival): WebhookStoreResult[] => {
      const inboxId = same.get(arrival.sourceKey)
      return inboxId === undefined ? [] : [{ arrival, inboxId, outcome: 'duplicate' }]
    })
    const others = await keepOthers(
      tx,
      known.filter(({ sourceKey }) => !same.has(sourceKey)),
    )
    const kept = [...fresh, ...repeated, ...others]
    const mismatches = await openConflicts(tx, kept)
    await countRepeats(tx, kept)
    const keptOf = new Map(kept.map((one) => [one.arrival, one]))
    return {
      outcomes: arrivals.map((arrival) => keptOf.get(arrival)?.outcome ?? 'duplicate'),
      inboxIds: arrivals.map((arrival) => keptOf.get(arrival)?.inboxId ?? null),
      mismatches,
    }
  })
}

async function idsOf(tx: Transaction<Tables>, arrivals: readonly NewWebhook[]): Promise<Map<string, bigint>> {
  if (arrivals.length === 0) return new Map()
  const { rows } = await sql<{ id: bigint; source_key: string }>`
    select inbox.id, inbox.source_key
    from ${asTable('came', arrivals, 'sourceKey text, body bytea')}
      join inbox on inbox.source = 'webhook' and inbox.source_key = came."sourceKey"
        and inbox.body = came.body`.execute(tx)
  return new Map(rows.map(({ id, source_key }) => [source_key, id]))
}

/**
 * Stored under the key and their hash. The keys are locked until the transaction ends, so that the last of several
 * concurrent bodies sees all others.
 */
async function keepOthers(
  tx: Transaction<Tables>,
  arrivals: readonly NewWebhook[],
): Promise<WebhookStoreResult[]> {
  if (arrivals.length === 0) return []
  await sql`
    select pg_advisory_xact_lock(lock) from (
      select distinct hashtextextended("sourceKey", 0) as lock
      from ${asTable('came', arrivals, 'sourceKey text')} order by lock
    ) as locks`.execute(tx)
  const others = arrivals.map((arrival) => ({
    ...arrival,
    sourceKey: `${arrival.sourceKey} sha256:${hashOf(arrival)}`,
  }))
  const added = await appendInbox(tx, others)
  const ids = await idsOf(tx, others)
  return others.map((other, place) => {
    const arrival = arrivals[place]
    const inboxId = ids.get(other.sourceKey)
    assert(arrival !== undefined && inboxId !== undefined, 'a key with a hash holds the body of that hash')
    return { arrival, inboxId, outcome: added.has(other.sourceKey) ? 'conflicting' : 'duplicate' }
  })
}

/** In one mismatch: a sender that never changes the id would add ever more. */
const namedMax = 8

/** Independent of the order in which the bodies arrived. Only a person closes it. */
async function openConflicts(
  tx: Transaction<Tables>,
  kept: readonly WebhookStoreResult[],
): Promise<MismatchChange[]> {
  const conflicting = kept.flatMap(({ arrival, inboxId, outcome }) =>
    outcome === 'conflicting' ? [{ key: arrival.sourceKey, sha256: hashOf(arrival), inboxId }] : [],
  )
  if (conflicting.length === 0) return []
  const { rows } = await sql<{ event: string; hashes: string[] }>`
    with other as (
      insert into webhook_conflict (first_id, sha256, inbox_id)
      select inbox.id, came.sha256, came."inboxId"
      from ${asTable('came', conflicting, 'key text, sha256 text, inboxId bigint')}
        join inbox on inbox.source = 'webhook' and inbox.source_key = came.key
      returning first_id, sha256
    )
    select first.source_key as event, array(
      select sha256 from (
        select other.sha256 union all select encode(sha256(first.body), 'hex')
        union all (select c.sha256 from webhook_conflict c where c.first_id = first.id order by c.sha256 limit ${namedMax})
      ) as body order by sha256 limit ${namedMax}
    ) as hashes
    from other join inbox as first on first.id = other.first_id`.execute(tx)
  return openMismatches(
    tx,
    rows.map(({ event, hashes }) => ({
      subject: `webhook/${event}`,
      kind: 'conflicting_duplicate',
      service: serviceOf(event),
      detail: { event, bodies: hashes.map((hash) => `sha256:${hash}`).join(', ') },
    })),
  )
}

/** Newest arrival times per webhook. The count includes all. */
const timesMax = 32

async function countRepeats(tx: Transaction<Tables>, kept: readonly WebhookStoreResult[]): Promise<void> {
  const repeats = kept.flatMap(({ arrival, inboxId, outcome }) => {
    const times = outcome === 'duplicate' ? [arrival.receivedAt, ...arrival.copiesAt] : arrival.copiesAt
    return times.map((at) => ({ inboxId, at }))
  })
  await sql`
    insert into webhook_repeat (inbox_id, count, first_at, last_at, newest_at)
    select "inboxId", count(*), min(at), max(at), (array_agg(at order by at desc))[1:${sql.lit(timesMax)}]
    from ${asTable('came', repeats, 'inboxId bigint, at timestamptz')}
    group by "inboxId" order by "inboxId"
    on conflict (inbox_id) do update set count = webhook_repeat.count + excluded.count,
      first_at = least(webhook_repeat.first_at, excluded.first_at),
      last_at = greatest(webhook_repeat.last_at, excluded.last_at),
      newest_at = array(
        select at from unnest(webhook_repeat.newest_at || excluded.newest_at) as at order by at desc limit ${timesMax}
      )`.execute(tx)
}

function hashOf({ body }: NewWebhook): string {
  return createHash('sha256').update(body).digest('hex')
}
