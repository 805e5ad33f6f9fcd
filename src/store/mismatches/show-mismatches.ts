import { type Kysely, type RawBuilder, sql } from 'kysely'
import { mismatchKinds } from '../../core/mismatch.ts'
import { assetsIn, type NamedAssets } from '../assets.ts'
import type { Visible } from '../books/list-deposits.ts'
import type { DepositReport } from '../books/show-deposits.ts'
import { whereSet } from '../database.ts'
import type { Tables } from '../tables.ts'
import { type AttachmentLine, listAttachments } from './attachments.ts'
import type { SnoozeEnd } from './cases.ts'

export type ShownMismatch = {
  /** As in `accounting.mismatches`. */
  mismatch: Record<string, unknown> & {
    service: string | null
    kind: string
    severity: string
    subject: string
    status: string
    detail: Record<string, string>
    network: string | null
    asset: string | null
    loss_asset: string | null
    /** Named now or in its history. */
    assets: NamedAssets
  }
  deposit: {
    id: string
    state: string
    owner: string
    amount: string | null
    amount_base: string | null
    asset_symbol: string | null
    asset: string | null
    network: string | null
  } | null
  history: {
    at: Date
    actor: string
    action: string
    text: string | null
    approved_by: string | null
    decision_id: bigint | null
    before: Record<string, unknown> | null
    after: Record<string, unknown> | null
    /** Null for what evidence opened or cleared. */
    event: bigint | null
    undoes: bigint | null
  }[]
  attachments: AttachmentLine[]
}

export async function showMismatch(db: Kysely<Tables>, id: bigint): Promise<ShownMismatch | null> {
  const [mismatches, deposits, history, attachments] = await Promise.all([
    sql<ShownMismatch['mismatch']>`
      select m.*, id::text as id, deposit_id::text as deposit_id, date_trunc('second', age)::text as age,
        ${assetsIn(sql`concat_ws(' ', m.detail::text, m.loss_asset, m.asset,
          (select string_agg(concat(e.before, e.after), ' ') from mismatch_event e where e.mismatch_id = m.id))`)} as assets
      from accounting.mismatches m where id = ${id}`.execute(db),
    sql<NonNullable<ShownMismatch['deposit']>>`
      select d.id::text as id, d.state, concat_ws(' ', d.owner_kind, d.owner_id) as owner,
        d.amount::text as amount, d.amount_base::text as amount_base, d.asset_symbol, d.asset, d.network
      from deposit_report d where d.id = (
        select coalesce(merged_into, id) from deposit where id = (select deposit_id from mismatch where id = ${id})
      )`.execute(db),
    sql<ShownMismatch['history'][number]>`
      select at, actor, action, text, approved_by, decision_id, before, after, event, undoes
      from accounting.mismatch_history
      where mismatch_id = ${id} order by at, action = 'cleared'`.execute(db),
    listAttachments(db, id),
  ])
  const mismatch = mismatches.rows[0]
  return mismatch === undefined
    ? null
    : { mismatch, deposit: deposits.rows[0] ?? null, history: history.rows, attachments }
}

/** Mismatches not cleared at that time, with the decisions made by then. */
export async function mismatchesAt(
  db: Kysely<Tables>,
  depositIds: readonly bigint[],
  at: Date,
): Promise<DepositReport['mismatches']> {
  // People see milliseconds.
  const by = (column: string) => sql`date_trunc('milliseconds', ${sql.ref(column)}) <= ${at}`
  const { rows } = await sql<DepositReport['mismatches'][number]>`
    select m.id::text as id, m.kind, m.severity, m.opened_at, null::timestamptz as cleared_at, m.detail, m.loss_asset,
      accounting.in_units(m.loss_amount, l.decimals)::text as loss, m.loss_amount::text as loss_base, l.symbol as loss_asset_symbol,
      ${assetsIn(sql`concat_ws(' ', m.detail::text, m.loss_asset)`)} as assets, coalesce((
      select case e.action when 'resolved' then 'resolved'
        when 'snoozed' then case when (e.after ->> 'snoozed_until')::timestamptz > ${at}
          or e.after ->> 'snooze_ends_with' is not null then 'snoozed' end end
      from mismatch_event e
      where e.mismatch_id = m.id and e.action in ('snoozed', 'resolved', 'reopened') and ${by('e.at')}
      order by e.id desc limit 1
    ), 'open') as status
    from mismatch m left join asset l on l.key = m.loss_asset
    where m.deposit_id = any(${depositIds}::bigint[]) and ${by('m.opened_at')}
      and (m.cleared_at is null or not ${by('m.cleared_at')})
    order by m.id`.execute(db)
  return rows
}

export type MismatchLine = {
  id: string
  deposit_id: string | null
  /** Null if it is about no single service. */
  service: string | null
  kind: string
  severity: string
  subject: string
  network: string
  asset_symbol: string
  asset: string | null
  amount: string
  amount_base: string | null
  /** Null if there is none, or if it cannot be measured. */
  loss: string | null
  loss_base: string | null
  loss_asset: string | null
  loss_asset_symbol: string | null
  /** Rank of the loss: its value if the asset has a price, otherwise its share of the amount owed. */
  loss_value: string | null
  currency: string | null
  loss_share: string | null
  age: string
  status: 'open' | 'snoozed' | 'resolved' | 'cleared'
  /** Open again by new evidence, after a person resolved or snoozed it. */
  regressed: boolean
  assigned_to: string | null
  snoozed_until: Date | null
  /** Of a snooze without a time. */
  snooze_ends_with: SnoozeEnd | null
  opened_at: Date
  /** Null if the mismatch has ended. */
  act_by: Date | null
  act_in: string
  resolved_at: Date | null
  resolved_by: string | null
  reason: string | null
  cleared_at: Date | null
  detail: Record<string, string>
  /** By key. Amounts in `detail` are in base units. */
  assets: NamedAssets
}

export type MismatchFilter = {
  limit: number
  /** With any status. */
  ids?: readonly bigint[]
  deposit?: bigint | undefined
  kind?: string | undefined
  severity?: string | undefined
  /** `none` for those of no single one. */
  service?: string | undefined
  network?: string | undefined
  openedFrom?: string | undefined
  openedBefore?: string | undefined
  /**
   * Instead of the most severe and the largest losses first. For mismatches of every status, only this order uses an
   * index.
   */
  isNewestFirst?: boolean
  /** The last one of the previous page. */
  after?: bigint | undefined
  /** A name, or `nobody`. */
  assigned?: string | undefined
  olderThanSeconds?: number
  isOverdue?: boolean
  also: 'nothing' | 'snoozed' | 'all'
} & Visible

/** The most severe and the largest losses first. With `also`, others follow. */
export async function listMismatches(
  db: Kysely<Tables>,
  { limit, ...filter }: MismatchFilter,
): Promise<MismatchLine[]> {
  const order = filter.isNewestFirst === true ? newest : sortKey
  // First the page, by as few columns as its order needs.
  const { rows } = await sql<MismatchLine>`
    with page as materialized (
      select mismatches.id from accounting.mismatches cross join ${acted}
      where ${sql.join(wantedOf(filter), sql` and `)} order by ${order} limit ${limit}
    )
    select id::text as id, deposit_id::text as deposit_id, service, kind, severity, subject, coalesce(network, '') as network,
      coalesce(asset_symbol, '') as asset_symbol, asset, coalesce(amount::text, '') as amount, amount_base::text as amount_base,
      loss::text as loss, loss_base::text as loss_base, loss_asset, loss_asset_symbol,
      loss_value::text as loss_value, currency, loss_share::text as loss_share,
      date_trunc('second', age)::text as age, status,
      status = 'open' and exists (
        select from mismatch_event e
        where e.mismatch_id = mismatches.id and e.action = 'reopened' and e.actor = 'depositd'
      ) as regressed, assigned_to, snoozed_until, snooze_ends_with, opened_at,
      case when not has_ended then act_by end as act_by,
      case when has_ended then '' when act_by < now() then 'overdue'
        else coalesce(justify_hours(date_trunc('second', make_interval(secs => extract(epoch from act_by - now()))))::text, '')
        end as act_in,
      resolved_at, resolved_by, reason, cleared_at, detail,
      ${assetsIn(sql`concat_ws(' ', detail::text, loss_asset)`)} as assets
    from page join accounting.mismatches using (id) cross join ${acted}
    order by ${order}`.execute(db)
  return rows
}

function wantedOf({
  also,
  ids,
  after,
  isNewestFirst,
  ...filter
}: Omit<MismatchFilter, 'limit'>): RawBuilder<unknown>[] {
  const {
    kind,
    severity,
    service,
    network,
    openedFrom,
    openedBefore,
    assigned,
    olderThanSeconds,
    isOverdue,
  } = filter
  // Closed mismatches are many; open ones have their own index.
  const open = [
    sql`cleared_at is null`,
    sql`resolved_at is null`,
    sql`status = any(${heldOpen[also]}::text[])`,
  ]
  return [
    sql`true`,
    ...(also === 'all' ? [] : open),
    ...whereSet(ids, (some) => sql`id = any(${some}::bigint[])`),
    ...whereSet(after, (id) =>
      isNewestFirst === true
        ? sql`mismatches.id < ${id}`
        : sql`(${sortKey}) > (select ${sortKey} from accounting.mismatches where id = ${id})`,
    ),
    ...seenBy(filter),
    ...whereSet(kind, (name) => sql`kind = ${name}`),
    ...whereSet(severity, (name) => sql`severity = ${name}`),
    ...whereSet(service, (name) => named('service', name)),
    ...whereSet(network, (name) => named('network', name)),
    ...whereSet(openedFrom, (at) => sql`opened_at >= ${at}::timestamptz`),
    ...whereSet(openedBefore, (at) => sql`opened_at < ${at}::timestamptz`),
    ...whereSet(assigned, (name) => sql`coalesce(assigned_to, 'nobody') = ${name}`),
    ...whereSet(olderThanSeconds, (seconds) => sql`age >= make_interval(secs => ${seconds})`),
    ...(isOverdue === true ? [sql`act_by < now() and not has_ended`] : []),
  ]
}

function seenBy({
  deposit,
  services,
  owners,
}: Pick<MismatchFilter, 'deposit'> & Visible): RawBuilder<unknown>[] {
  return [
    ...whereSet(deposit, (id) => sql`deposit_id = ${id}`),
    ...whereSet(services, (names) => sql`service = any(${names}::text[])`),
    ...whereSet(
      owners,
      (some) => sql`deposit_id in (select d.id from deposit d where d.owner_id = any(${some}::text[]))`,
    ),
  ]
}

function named(column: 'service' | 'network', name: string): RawBuilder<unknown> {
  return name === 'none' ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${name}`
}

const heldOpen = { nothing: ['open'], snoozed: ['open', 'snoozed'], all: [] }

const unmeasured = Object.entries(mismatchKinds)
  .filter(([, { loss }]) => loss === 'unmeasured')
  .map(([kind]) => kind)

/**
 * Unique. Losses are compared by value, or by their share of the amount owed, never by amounts of different assets.
 * Losses that cannot be measured come first.
 */
const sortKey = sql`array_position(array['open', 'snoozed', 'resolved', 'cleared'], status),
  array_position(array['severe', 'warning', 'info'], severity), kind <> all(${unmeasured}::text[]),
  coalesce(-loss_value, 1), coalesce(-loss_share, 1), opened_at, mismatches.id`

const newest = sql`mismatches.id desc`

const kindNames = Object.keys(mismatchKinds)
const kindHours = Object.values(mismatchKinds).map(({ actWithinHours }) => actWithinHours)
const hoursToAct = sql`(${kindHours}::integer[])[array_position(${kindNames}::text[], kind)]`

const endedStatuses = ['resolved', 'cleared']

const acted = sql`lateral (select opened_at + make_interval(hours => ${hoursToAct}) as act_by,
  status = any(${endedStatuses}::text[]) as has_ended) as acted`
