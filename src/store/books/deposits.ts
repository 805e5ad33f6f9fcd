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
  const { rows } = await sql<{ id: bigint }>`
    select nextval(pg_get_serial_sequence('deposit', 'id')) as id
    from generate_series(1, ${count})`.execute(tx)
  const fresh = rows.map(({ id }) => id).values()
  return deposits.map((deposit) => ({ ...deposit, id: deposit.id ?? fresh.next().value ?? 0n }))
}

/** An absorbed deposit keeps its row, which refers to the one that absorbed it. */
export async function saveDeposits(
  tx: Transaction<Tables>,
  deposits: readonly NumberedDeposit[],
): Promise<void> {
  if (deposits.length === 0) return
  const absorbed = deposits.flatMap(({ id, absorbed: ids }) => ids.map((old) => ({ old, id })))
  if (absorbed.length > 0) {
    await sql`
      update deposit set merged_into = pair.id, service_id = null, transfer = null, updated_at = now()
      from ${asTable('pair', absorbed, 'old bigint, id bigint')}
      where deposit.id = pair.old`.execute(tx)
  }
  const rows = deposits.map(rowOf)
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'id')
  const list = (prefix: string) => sql.raw(names.map((name) => prefix + name).join(', '))
  const assignments = sql.raw(names.map((name) => `${name} = excluded.${name}`).join(', '))
  await sql`
    insert into deposit (id, ${list('')}) overriding system value
    select id, ${list('')} from json_populate_recordset(null::deposit, ${JSON.stringify(rows)}::json)
    on conflict (id) do update set ${assignments}, updated_at = now()
    where (${list('deposit.')}) is distinct from (${list('excluded.')})`.execute(tx)
}

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
