import { sql, type Transaction } from 'kysely'
import type { DecidedDeposit, LegFacts } from '../../core/decide.ts'
import { type ServiceName, serviceOf } from '../../core/evidence.ts'
import type { DepositEvidence } from '../../core/matching/divide.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'

export type NumberedDeposit = DecidedDeposit & { id: bigint; groupId: bigint }

export async function numberDeposits(
  tx: Transaction<Tables>,
  deposits: readonly (DecidedDeposit & { groupId: bigint })[],
): Promise<NumberedDeposit[]> {
  const count = deposits.filter(({ id }) => id === null).length
  const fresh = (await nextIds(tx, count)).values()
  return deposits.map((deposit) => ({ ...deposit, id: deposit.id ?? fresh.next().value ?? 0n }))
}

async function nextIds(tx: Transaction<Tables>, count: number): Promise<bigint[]> {
  if (count === 0) return []
  const { rows } = await sql<{ id: bigint }>`
    select nextval(pg_get_serial_sequence('deposit', 'id')) as id
    from generate_series(1, ${count})`.execute(tx)
  return rows.map(({ id }) => id)
}

/**
 * An absorbed deposit keeps its row, which refers to the one that stands.
 * @returns those that became reconciled
 */
export async function saveDeposits(
  tx: Transaction<Tables>,
  deposits: readonly NumberedDeposit[],
): Promise<bigint[]> {
  if (deposits.length === 0) return []
  const absorbed = deposits.flatMap(({ id, absorbed: ids }) => ids.map((old) => ({ old, id })))
  if (absorbed.length > 0) {
    await sql`
      with absorbed as (
        update deposit set merged_into = pair.id, service_id = null, transfer = null, updated_at = now()
        from ${asTable('pair', absorbed, 'old bigint, id bigint')}
        where deposit.id = pair.old or deposit.merged_into = pair.old returning deposit.*
      ) ${recordMerged}`.execute(tx)
  }
  const rows = deposits.map(rowOf)
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'id')
  const list = (prefix: string) => sql.raw(names.map((name) => prefix + name).join(', '))
  const assignments = sql.raw(names.map((name) => `${name} = excluded.${name}`).join(', '))
  const { rows: saved } = await sql<{ id: bigint }>`
    with saved as (
      insert into deposit (id, ${list('')}) overriding system value
      select id, ${list('')} from json_populate_recordset(null::deposit, ${JSON.stringify(rows)}::json)
      on conflict (id) do update set ${assignments}, updated_at = now()
      where (${list('deposit.')}) is distinct from (${list('excluded.')})
      returning new.*, nullif(old.state, 'ignored') as state_before,
        case when old.state <> 'ignored' then old.final_at end as final_before,
        case when old.state <> 'ignored' then old.settled_at end as settled_before
    ), recorded as (
      insert into event_pending (type, deposit_id, data)
      select became.type, saved.id, ${eventData}
      from saved, lateral (values ${becameRows}) as became (place, type, applies)
      where became.applies and saved.state <> 'ignored' order by saved.id, became.place
    )
    select id from saved where state = 'reconciled' and state_before is distinct from 'reconciled'`.execute(
    tx,
  )
  return saved.map(({ id }) => id)
}

/** Of the rows `absorbed`: who knows the number finds the deposit that stands. */
export const recordMerged = sql`
  insert into event_pending (type, deposit_id, data)
  select 'deposit.merged', id, jsonb_build_object('into', merged_into::text)
  from absorbed where state <> 'ignored' order by id`

/** What a deposit became, in the order in which it becomes it. What is ignored is no deposit yet. */
const becameRows = sql`
  (1, 'deposit.observed', state_before is null),
  (2, 'deposit.final', final_at is not null and final_before is null),
  (3, 'deposit.settled', settled_at is not null and settled_before is null),
  (4, 'deposit.reversed', state = 'orphaned' and state_before is distinct from 'orphaned')`

const eventData = sql`jsonb_strip_nulls(jsonb_build_object('service_id', service_id, 'state', state, 'network', network,
  'address', address, 'asset', asset, 'amount', amount::text, 'tx', tx, 'settlement_network', settlement_network,
  'settlement_asset', settlement_asset, 'settlement_amount', settlement_amount::text, 'settlement_tx', settlement_tx))`

/** Of a payment that no service has reported, that of the owner of the address. */
export function serviceOfDeposit({
  serviceId,
  approval,
}: Pick<DepositEvidence, 'serviceId' | 'approval'>): ServiceName {
  return serviceOf(serviceId ?? approval?.owner.id ?? '')
}

function rowOf(deposit: NumberedDeposit) {
  const { id, groupId, evidence, verdict, payment, delivery, milestones, steps } = deposit
  return {
    id: id.toString(),
    group_id: groupId.toString(),
    service_id: evidence.serviceId,
    service: serviceOfDeposit(evidence),
    transfer: evidence.deposit?.ref,
    state: verdict.state,
    matrix: verdict.matrix,
    ...ownerColumns(evidence),
    ...legColumns('', payment),
    ...legColumns('settlement_', delivery),
    fee_amount: delivery?.fee?.toString(),
    deposited_at: milestones.depositedAt,
    webhook_at: milestones.webhookAt,
    api_at: milestones.apiAt,
    chain_at: milestones.chainAt,
    final_at: milestones.finalAt,
    settled_at: milestones.settledAt,
    reconciled_at: milestones.reconciledAt,
    steps_known: steps.known,
    steps_reported: steps.reported,
    unreported_since: steps.unreportedSince,
  }
}

function ownerColumns({ approval, api, webhook }: DepositEvidence) {
  const owner = approval?.owner ?? api?.owner ?? webhook?.owner
  return { owner_kind: owner?.kind, owner_id: owner?.id }
}

function legColumns(prefix: string, leg: LegFacts | null) {
  return {
    [`${prefix}network`]: leg?.network,
    [`${prefix}address`]: leg?.address,
    [`${prefix}asset`]: leg?.asset,
    [`${prefix}amount`]: leg?.amount?.toString(),
    [`${prefix}tx`]: leg?.tx,
  }
}
